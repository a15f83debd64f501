// The table of packages in docs/packages.md.

/** Renders the table for the results; `reasons` has the reason for each package that fails. */
export function table(results, reasons) {
  const works = results.filter(({ works }) => works).length;
  const kinds = [...new Set(results.map(({ kind }) => kind))];
  const rows = kinds.flatMap((kind) =>
    results
      .filter((each) => each.kind === kind)
      .map((each, index) => `| ${index === 0 ? kind : ""} | \`${each.name}\` ${each.version} | ${verdict(each)} |`),
  );
  return [
    `${works} of ${results.length} packages work:`,
    "",
    "| used for | package | |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");

  function verdict({ name, works, locales, warnings }) {
    const said = warnings.map((each) => each.replace(/^warning: /, "").replaceAll("../../node_modules/", ""));
    if (works && locales !== undefined) return "works with [`locales`](globals.md#locales)";
    if (works) return said.length === 0 ? "works" : `works; the build warns: ${said.join("; ")}`;
    return `fails: ${reasons[name] ?? "no reason is listed"}`;
  }
}
