import pino from "pino";

export default () => {
  const said = [];
  const log = pino(
    { level: "debug", timestamp: false, base: null, browser: { write: (line) => said.push(line.msg), asObject: true } },
    { write: (line) => said.push(JSON.parse(line).msg) },
  );
  log.info({ a: 1 }, "hello %s", "Ada");
  log.child({ b: 2 }).debug("more");
  log.trace("not shown");
  return said;
};
