import { delay, from, lastValueFrom, map, mergeMap, of, retry, scan, throwError, timer, toArray } from "rxjs";

export default async () => [
  await lastValueFrom(
    from([3, 1, 2]).pipe(
      mergeMap((each) => of(each).pipe(delay(each * 60))),
      scan((sum, each) => sum + each, 0),
      toArray(),
    ),
  ),
  await lastValueFrom(
    timer(5).pipe(
      mergeMap(() => throwError(() => new Error("no"))),
      retry(1),
      map(String),
    ),
  ).catch(({ message }) => message),
];
