// Reasons why packages of the list do not work.
export const reasons = {
  luxon: "the engine has no `Intl`, with which it computes time zones and texts",
  "cron-parser": "it is made of luxon, and the engine has no `Intl`",
};
