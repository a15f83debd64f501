import { marked } from "marked";

const text = `# Über *uns*

- [x] done
- a **"bold"**claim, ~~gone~~

| a | b |
|---|--:|
| 1 | 2 |

\`\`\`js
1 < 2
\`\`\`
`;

export default () => marked.parse(text, { gfm: true });
