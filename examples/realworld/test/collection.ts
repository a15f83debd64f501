/** Runs a Postman collection, such as the one of gothinkster/realworld, against an app under test. */
import vm from "node:vm";
import type { TestApp } from "@tenon/sdk/testing";

interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly event?: readonly { readonly listen: string; readonly script: { readonly exec: readonly string[] } }[];
  readonly request?: {
    readonly method: string;
    readonly url: { readonly raw: string } | string;
    readonly header?: readonly { readonly key: string; readonly value: string; readonly disabled?: boolean }[];
    readonly body?: { readonly raw?: string };
  };
}

/** A check of a script: its request, its name, and whether it holds. */
export interface Check {
  readonly request: string;
  readonly name: string;
  readonly holds: boolean;
}

/** Sends the requests of a collection in their order, and returns the checks of their scripts. */
export async function runCollection(
  items: readonly Item[],
  app: TestApp,
  globals: Map<string, string>,
): Promise<Check[]> {
  const checks: Check[] = [];
  for (const { name, item, request, event = [] } of items) {
    if (item) checks.push(...(await runCollection(item, app, globals)));
    if (!request) continue;
    const fill = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, key: string) => globals.get(key) ?? "");
    const url = fill(typeof request.url === "string" ? request.url : request.url.raw);
    const headers = (request.header ?? []).filter(({ disabled }) => !disabled);
    const answer = await app.request(request.method, url, {
      headers: Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), fill(value)])),
      ...(request.body?.raw && { body: fill(request.body.raw) }),
    });
    const tests: Record<string, unknown> = {};
    const variables = {
      set: (key: string, value: unknown) => globals.set(key, String(value)),
      get: (key: string) => globals.get(key),
    };
    const scope = {
      tests,
      environment: {},
      responseBody: answer.text(),
      responseCode: { code: answer.status },
      pm: { globals: variables, environment: variables, variables },
      postman: { setGlobalVariable: variables.set, getGlobalVariable: variables.get },
    };
    for (const { listen, script } of event) {
      if (listen !== "test") continue;
      try {
        vm.runInNewContext(script.exec.join("\n"), scope);
      } catch (error) {
        tests[`the script ends: ${error}`] = false;
      }
    }
    const sent = `${request.method} ${url} (${name}) → ${answer.status}`;
    checks.push(
      ...Object.entries(tests).map(([check, holds]) => ({ request: sent, name: check, holds: Boolean(holds) })),
    );
  }
  return checks;
}
