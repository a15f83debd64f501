// h2spec (github.com/summerwind/h2spec): HTTP/2 over TLS, and without TLS by prior knowledge.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail } from "../../setup.mjs";
import { prefix, start } from "../server.mjs";

export async function* run(program, only) {
  for (const tls of [false, true]) {
    const server = await start({ tls });
    const folder = mkdtempSync(join(tmpdir(), "tenon-h2spec-"));
    try {
      const report = join(folder, "report.xml");
      const security = tls ? ["-t", "-k"] : [];
      const args = [
        "-h",
        server.host,
        "-p",
        String(server.port),
        "-P",
        `${prefix}/`,
        "-o",
        "4",
        "-j",
        report,
        ...security,
      ];
      const { error } = spawnSync(program, args, { encoding: "utf8" });
      if (error !== undefined) fail(`${program}: ${error.message}`);
      for (const each of cases(readFileSync(report, "utf8"))) {
        const id = `${tls ? "TLS" : "plain"} ${each.id}`;
        if (id.includes(only)) yield { ...each, id };
      }
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  }
}

/** Lists the cases of a report in JUnit's format. */
function* cases(xml) {
  const ids = new Map();
  const pattern = /<testcase package="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;
  for (const [, section, name, content = ""] of xml.matchAll(pattern)) {
    const number = (ids.get(section) ?? 0) + 1;
    ids.set(section, number);
    const verdict =
      content.includes("<failure") || content.includes("<error")
        ? "fail"
        : content.includes("<skipped")
          ? "skip"
          : "pass";
    yield { id: `${section}/${number} ${name}`, verdict, note: content.replace(/\s+/g, " ").slice(0, 200) };
  }
}
