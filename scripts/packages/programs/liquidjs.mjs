import { Liquid } from "liquidjs";

const engine = new Liquid();

export default () =>
  engine.parseAndRender(
    "{% for each in people %}{{ each.name | upcase | append: '!' }} {% endfor %}{{ at | date: '%Y-%m-%d' }} {{ html | escape }}",
    {
      people: [{ name: "Ada" }, { name: "Bob" }],
      at: "2024-02-29T12:00:00",
      html: "<b>",
    },
  );
