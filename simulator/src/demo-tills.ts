import { nullOn } from "@pragma/client/api-problem";
import type { PublicClient } from "@pragma/client/create-client";
import { type DemoDay, demoTill } from "./demo-days.ts";

/** Called with how many days are done. */
export type Progress = (done: number) => void;

/**
 * Pushes the tills of the days that the location does not have yet, a few at a time, and says how many it pushed. A day
 * that it has with other content, from an older version of the demo, is left as it is.
 */
export async function pushMissingTills(
  api: PublicClient,
  locationId: string,
  days: readonly DemoDay[],
  progress: Progress,
): Promise<number> {
  const waiting = [...days];
  let done = 0;
  let pushed = 0;
  const work = async () => {
    for (let day = waiting.shift(); day; day = waiting.shift()) {
      if (await pushIfMissing(api, locationId, day)) pushed++;
      progress(++done);
    }
  };
  await Promise.all(Array.from({ length: pushesAtOnce }, work));
  return pushed;
}

interface Waiting {
  progress: Progress;
  /** How to wait for so many milliseconds. */
  wait: (milliseconds: number) => Promise<unknown>;
}

/**
 * Waits until the report of each day can be read, and gives the id of the newest. Throws when none is added for too
 * long.
 */
export async function awaitReports(
  api: PublicClient,
  days: readonly DemoDay[],
  { progress, wait }: Waiting,
): Promise<string> {
  let most = 0;
  for (let quietPolls = 0; quietPolls < mostQuietPolls; quietPolls++) {
    const idByStart = await readReports(api, days);
    const ready = days.filter(({ startsAt }) => idByStart.has(startsAt)).length;
    const newest = idByStart.get(days.at(-1)?.startsAt ?? 0);
    if (ready === days.length && newest) return newest;
    if (ready > most) quietPolls = 0;
    most = Math.max(most, ready);
    progress(ready);
    await wait(pollInterval);
  }
  throw new Error(
    `Only ${most} of ${days.length} reports can be read, and none was added for a minute. The tills are safe: their ` +
      "reports follow once the reporting service works again. Its log says what holds it up.",
  );
}

async function pushIfMissing(api: PublicClient, locationId: string, day: DemoDay): Promise<boolean> {
  const known = await nullOn(api.GET("/v1/tills/{id}", { params: { path: { id: day.tillId } } }), "till_not_found");
  if (known !== null) return false;
  const pushed = await nullOn(api.POST("/v2/tills", { body: demoTill(locationId, day) }), "till_conflict");
  return pushed !== null;
}

async function readReports(api: PublicClient, days: readonly DemoDay[]): Promise<Map<number, string>> {
  const idByStart = new Map<number, string>();
  const query = { since: days.at(0)?.day ?? "", until: days.at(-1)?.day ?? "" };
  for await (const { id, startedAt } of api.items("/v2/reports", { params: { query } }))
    idByStart.set(Date.parse(startedAt), id);
  return idByStart;
}

const pushesAtOnce = 3;

/** Milliseconds between two looks at the reports. */
const pollInterval = 500;

/** A minute. */
const mostQuietPolls = 120;
