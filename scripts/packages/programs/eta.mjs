import { Eta } from "eta/core";

const eta = new Eta();

export default () => [
  eta.renderString("<% for (const each of it.people) { %><li><%= each %></li><% } %>", { people: ["<Ada>", "Bob"] }),
  eta.renderString("<%~ it.raw %>", { raw: "<b>" }),
];
