// A consumer of cron in a process of its own, which a test kills: `node cron-consumer.mjs <socket> <answer|hang>`. It writes each
// run as a line of JSON, and answers 204, or never.
import { CronConsumer } from "../../dist/cron.js";
import { askAt } from "../../dist/sidecar-service.js";

const [, , socket, manner] = process.argv;
new CronConsumer({
  service: askAt(`unix://${socket}`),
  modules: () => ["work"],
  leaseMs: 1000,
  call: (run) => {
    process.stdout.write(`${JSON.stringify(run)}\n`);
    return manner === "hang" ? new Promise(() => {}) : Promise.resolve(204);
  },
  complain: () => {},
});
