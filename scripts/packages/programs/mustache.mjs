import Mustache from "mustache";

export default () =>
  Mustache.render(
    "{{#people}}{{name}} {{> tail}}{{/people}}{{^none}}none{{/none}}",
    { people: [{ name: "<Ada>" }] },
    { tail: "!" },
  );
