// Draws the table of bench/routes: each server's requests per second, as a ratio to Node with Hono.

const colours = { request: "#4c72b0", shared: "#55a868" };
const [left, width, barHeight, rowHeight, top] = [300, 420, 9, 34, 58];
/** End of the scale. A longer bar is cut off, with its number beside it. */
const most = 1.2;

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/**
 * Draws an SVG with two bars for each row, request and shared isolation, and a line at Hono.
 *
 * @param rows each a name, with ratios to Hono
 * @param caption a sentence with the machine and the date
 */
export function plot(rows, caption) {
  const height = top + rows.length * rowHeight + 30;
  const bars = rows.flatMap(({ name, ...ratios }, index) => {
    const y = top + index * rowHeight;
    const label = `<text x="${left - 10}" y="${y + 13}" text-anchor="end">${escaped(name.replaceAll("`", ""))}</text>`;
    const both = Object.entries(colours).map(([server, colour], nth) => {
      const ratio = ratios[server];
      const length = (Math.min(ratio, most) / most) * width;
      const at = y + nth * (barHeight + 1);
      return (
        `<rect x="${left}" y="${at}" width="${length.toFixed(1)}" height="${barHeight}" fill="${colour}"/>` +
        `<text class="n" x="${(left + length + 5).toFixed(1)}" y="${at + 8}">${ratio.toFixed(2)}</text>`
      );
    });
    return [label, ...both];
  });
  const hono = left + width / most;
  const legend = Object.entries(colours).map(
    ([server, colour], index) =>
      `<rect x="${left + index * 150}" y="18" width="12" height="12" fill="${colour}"/>` +
      `<text x="${left + 18 + index * 150}" y="28">${server} isolation</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 60} ${height}" role="img">
<title>Requests a second of Tenon, as a part of those of Node with Hono, by route</title>
<style>text { font: 13px system-ui, sans-serif; fill: #24292f } .n { font-size: 10px } line { stroke: #888; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }</style>
${legend.join("\n")}
<line x1="${hono}" y1="${top - 8}" x2="${hono}" y2="${height - 28}"/>
<text x="${hono}" y="${top - 14}" text-anchor="middle">Node + Hono = 1</text>
${bars.join("\n")}
<text class="n" x="10" y="${height - 8}">${escaped(caption)}</text>
</svg>
`;
}
