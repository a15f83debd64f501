import sanitizeHtml from "sanitize-html";

export default () => [
  sanitizeHtml('<p onclick="x()">a<script>alert(1)</script><a href="javascript:x" title=y>b</a><b>c</p>'),
  sanitizeHtml('<p style="color: red; position: fixed">a</p>', {
    allowedAttributes: { p: ["style"] },
    allowedStyles: { p: { color: [/^red$/] } },
  }),
];
