// Apart from tenon.js, because the oldest versions of Node cannot read `import()`.
"use strict";

import("../dist/main.js").then(({ main }) => main(process.argv));
