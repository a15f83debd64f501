// A consumer of a queue in a process of its own, which a test kills: `node queue-consumer.mjs <socket>`. It writes each delivery as
// a line of JSON with the time of a clock that all processes share. Broken messages are answered 500, all others 204.
import { QueueConsumer } from "../../dist/queues.js";
import { askAt } from "../../dist/sidecar-service.js";

const options = { module: "work", path: "/", concurrency: 16, maxAttempts: 5, visibilityMs: 2000 };
const deliver = async (_module, _path, text) => {
  const { body, attempts } = JSON.parse(text);
  process.stdout.write(`${JSON.stringify({ ...body, attempts, at: Number(process.hrtime.bigint()) })}\n`);
  return body.isBroken ? 500 : 204;
};
new QueueConsumer("work", options, askAt(`unix://${process.argv[2]}`), deliver, () => {});
