import { addMonths, differenceInCalendarDays, format, formatDistance, parseISO } from "date-fns";
import { de } from "date-fns/locale";

export default () => {
  const at = parseISO("2024-01-31T12:00:00");
  return [
    format(addMonths(at, 1), "EEEE, d. MMMM yyyy", { locale: de }),
    differenceInCalendarDays(parseISO("2024-12-24T00:00:00"), at),
    formatDistance(at, parseISO("2024-02-03T12:00:00"), { addSuffix: true }),
  ];
};
