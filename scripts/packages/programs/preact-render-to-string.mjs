import { h } from "preact";
import { useState } from "preact/hooks";
import { renderToString } from "preact-render-to-string";

const Item = ({ name }) => {
  const [count] = useState(name.length);
  return h("li", { class: "x", style: { color: "red" } }, name, " ", count);
};

export default () =>
  renderToString(
    h(
      "ul",
      null,
      ["Ada", "<Bob>"].map((name) => h(Item, { key: name, name })),
    ),
  );
