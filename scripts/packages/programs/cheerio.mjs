import * as cheerio from "cheerio";

export default () => {
  const $ = cheerio.load("<ul id=a><li class=x>1<li>2</ul><p>&eacute;");
  $("#a li:not(.x)").text("two").attr("data-n", "2");
  return [
    $("li")
      .map((_, each) => $(each).text())
      .get(),
    $.html(),
  ];
};
