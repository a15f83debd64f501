import { createElement, useId, useState } from "react";
import { renderToReadableStream, renderToString } from "react-dom/server";

const Item = ({ name }) => {
  const [count] = useState(name.length);
  return createElement("li", { id: useId(), className: "x" }, name, " ", count);
};
const list = () =>
  createElement(
    "ul",
    null,
    ["Ada", "<Bob>"].map((name) => createElement(Item, { key: name, name })),
  );

export default async () => [renderToString(list()), await new Response(await renderToReadableStream(list())).text()];
