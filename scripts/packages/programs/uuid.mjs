import { parse, stringify, v1, v4, v5, v7, validate, version } from "uuid";

export default () => {
  const ids = [v1(), v4(), v7()];
  return [
    ids.map(validate),
    ids.map(version),
    v5("example.org", v5.DNS),
    stringify(parse("9f5a1fd4-3c4d-4a46-9d6c-0c7d8d2b5c11")),
  ];
};
