import ejs from "ejs";

export default () =>
  ejs.render("<% people.forEach((each) => { %><li><%= each %></li><% }) %><%- raw %>", {
    people: ["<Ada>", "Bob"],
    raw: "<b>",
  });
