/** The formats of `field.string({ format })`, each checked by the RFC named at its test below. */
export type Format = "email" | "uuid" | "date" | "date-time" | "uri" | "ipv4" | "ipv6";

// No \p{…}, because the engine has no Unicode property tables, and such an expression fails the build. Every expression
// is linear: no repetition contains another that can match the same text.

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const HEX_GROUP = /^[0-9A-Fa-f]{1,4}$/;
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const DOT_STRING = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*";
const ATOMS = new RegExp(`^${DOT_STRING}$`);
const USUAL_EMAIL = new RegExp(`^${DOT_STRING}@${LABEL}(?:\\.${LABEL})*$`);
const QUOTED = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/;
const UUID = /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Dotted decimal, four octets without leading zeros (RFC 2673 section 3.2). */
function isIpv4(text: string): boolean {
  return IPV4.test(text);
}

/** Eight groups, `::` for one run of zeros, a dotted quad in the last place; no zone (RFC 4291 section 2.2). */
function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups: string[] = [];
  for (const half of halves) if (half !== "") groups.push(...half.split(":"));
  let count = groups.length;
  const last = groups.at(-1);
  if (last?.includes(".")) {
    // A dotted quad counts as two groups, at the very end only.
    if (!isIpv4(last) || text.endsWith(":")) return false;
    groups.pop();
    count++;
  }
  return groups.every((group) => HEX_GROUP.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
}

/** A Mailbox (RFC 5321 section 4.1.2), with its length limits (section 4.5.3.1): 64 before the `@`, 254 in all. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at > 64 || text.length > 254) return false;
  if (USUAL_EMAIL.test(text)) return true;
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  if (!ATOMS.test(local) && !QUOTED.test(local)) return false;
  if (!domain.startsWith("[")) return DOMAIN.test(domain);
  if (!domain.endsWith("]")) return false;
  const literal = domain.slice(1, -1);
  return /^IPv6:/i.test(literal) ? isIpv6(literal.slice(5)) : isIpv4(literal);
}

/** A full-date (RFC 3339 section 5.6) that the Gregorian calendar has. */
function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** A date-time (RFC 3339 section 5.6): an offset is required, a leap second only at the end of a day in UTC. */
function isDateTime(text: string): boolean {
  const separator = text[10];
  if ((separator !== "T" && separator !== "t") || !isDate(text.slice(0, 10))) return false;
  const match = TIME.exec(text.slice(11));
  if (!match) return false;
  const hour = Number(match[1]);
  const minute = Number(match[2]);
  const second = Number(match[3]);
  const offsetHour = Number(match[5] ?? 0);
  const offsetMinute = Number(match[6] ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (match[4] === "-" ? 1 : -1) * (offsetHour * 60 + offsetMinute);
  return (hour * 60 + minute + offset + 2880) % 1440 === 1439;
}

/** A URI with a scheme (RFC 3986 section 3 and appendix A). */
function isUri(text: string): boolean {
  const match = URI.exec(text);
  if (!match) return false;
  const host = match[1];
  // The expression does not check the brackets of an IP literal.
  return host === undefined || isIpv6(host) || /^v[0-9A-Fa-f]+\.[\w.~!$&'()*+,;=:-]+$/i.test(host);
}

const PCT = "%[0-9A-Fa-f]{2}";
const PCHAR = `(?:[\\w.~!$&'()*+,;=:@-]|${PCT})`;
const AUTHORITY = `(?:(?:[\\w.~!$&'()*+,;=:-]|${PCT})*@)?(?:\\[([^\\]]*)\\]|(?:[\\w.~!$&'()*+,;=-]|${PCT})*)(?::\\d*)?`;
const URI = new RegExp(
  `^[A-Za-z][A-Za-z0-9+.-]*:(?://${AUTHORITY}(?:/${PCHAR}*)*|/(?:${PCHAR}+(?:/${PCHAR}*)*)?|${PCHAR}+(?:/${PCHAR}*)*|)` +
    `(?:\\?(?:${PCHAR}|[/?])*)?(?:#(?:${PCHAR}|[/?])*)?$`,
);

/** The test of each format. */
export const formats: Readonly<Record<Format, (text: string) => boolean>> = {
  email: isEmail,
  uuid: (text) => UUID.test(text), // RFC 9562 section 4; any version and variant
  date: isDate,
  "date-time": isDateTime,
  uri: isUri,
  ipv4: isIpv4,
  ipv6: isIpv6,
};

/** A text of each format, for warming up. */
export const samples: Readonly<Record<Format, string>> = {
  email: "a@b.co",
  uuid: "00000000-0000-4000-8000-000000000000",
  date: "2000-01-01",
  "date-time": "2000-01-01T00:00:00Z",
  uri: "http://a/",
  ipv4: "0.0.0.0",
  ipv6: "::",
};
