import Handlebars from "handlebars";

Handlebars.registerHelper("loud", (text) => text.toUpperCase());
const page = Handlebars.compile(
  "{{#each people}}{{@index}}: {{loud name}} {{#if old}}old{{else}}<young>{{/if}}\n{{/each}}{{html}}",
);

export default () => page({ people: [{ name: "Ada", old: true }, { name: "Bob" }], html: "<b>" });
