import { stringify } from "csv-stringify";
import { stringify as stringifySync } from "csv-stringify/sync";

const rows = [
  { a: 1, b: 'x,"y"' },
  { a: "é", b: null },
];

export default async () => {
  let streamed = "";
  for await (const each of stringify(rows, { header: true })) streamed += each;
  return [stringifySync(rows, { header: true, delimiter: ";" }), streamed];
};
