import { expect, test } from "vitest";
import { TenonError } from "../errors.ts";
import { buildingPage, buildState, errorPage, noDocumentPage } from "./error-page.ts";

const error = new TenonError(
  "BUILD",
  'src/a.ts:3:1: Expected ")" but found "}"\n  3 | };\n    | ^\nsrc/b.ts:1:2: <b> & "c"',
  "look <here>",
);

test("each mistake has its place, its text and its lines", () => {
  const page = errorPage("demo", error, 4);
  expect(page.match(/<section>/g)).toHaveLength(2);
  expect(page).toContain(
    '<code class="place">src/a.ts:3:1</code>\n<h2>Expected &quot;)&quot; but found &quot;}&quot;</h2>',
  );
  expect(page).toContain('<pre tabindex="0">  3 | };\n    | ^</pre>');
  expect(page).toContain(buildState(4));
});

test("nothing of an error is markup", () => {
  const page = errorPage("<i>", error, 1);
  expect(page).toContain("&lt;b&gt; &amp; &quot;c&quot;");
  expect(page).toContain("look &lt;here&gt;");
  expect(page).toContain("<title>Build failed · &lt;i&gt;</title>");
  expect(errorPage("demo", new Error("</script><script>"), 1).match(/<script>/g)).toHaveLength(1);
});

test("before the first build there is a page that waits for it", () => {
  const page = buildingPage("<i>");
  expect(page).toContain("<title>Building · &lt;i&gt;</title>");
  expect(page).toContain('const known = {"build":0}.build;');
});

test("a build without an OpenAPI document has a page that says why", () => {
  const page = noDocumentPage("<i>", error, 4);
  expect(page).toContain("<title>No OpenAPI document · &lt;i&gt;</title>");
  expect(page).toContain("<h2>&lt;b&gt; &amp; &quot;c&quot;</h2>");
  expect(page).toContain(buildState(4));
});
