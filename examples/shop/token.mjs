// Prints a token for development: node --env-file=.env token.mjs Ada; with "admin" at the end, one for an
// administrator.
import { createHmac } from "node:crypto";
import { argv, env } from "node:process";

const [, , sub, role] = argv;
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const exp = Math.floor(Date.now() / 1000) + 24 * 3600;
const signed = `${part({ alg: "HS256" })}.${part({ iss: "shop", sub, role, exp })}`;
process.stdout.write(`${signed}.${createHmac("sha256", env.SHOP_JWT).update(signed).digest("base64url")}\n`);
