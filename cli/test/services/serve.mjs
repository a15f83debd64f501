// The development services in a process of their own, which a test kills: `node serve.mjs <folder>`.
import { native } from "../../dist/native.js";

const services = await native().Services.start({ folder: process.argv[2] });
process.stdout.write(`${services.url}\n`);
setInterval(() => {}, 2 ** 30);
