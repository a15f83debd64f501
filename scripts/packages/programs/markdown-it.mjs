import markdownIt from "markdown-it";

const text = `# Über *uns*

1. see https://example.org/é and **«bold»**text
2. "quoted" -- (c)

> a \`<b>\`
`;

export default () => markdownIt({ linkify: true, typographer: true }).render(text);
