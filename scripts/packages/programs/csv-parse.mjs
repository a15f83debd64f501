import { parse } from "csv-parse";
import { parse as parseSync } from "csv-parse/sync";

const text = 'a,b\n1,"x,""y"""\né,2\n';

export default async () => {
  const streamed = [];
  for await (const each of parse(text, { columns: true })) streamed.push(each);
  return [parseSync(text, { columns: true, cast: true }), streamed];
};
