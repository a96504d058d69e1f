import { pageOf } from "@pragma/contracts/pagination";
import { z } from "zod";
import { type DemoDay, demoTill } from "./demo-days.ts";
import type { PublicApi } from "./public-api.ts";

/** Called with how many days are done. */
export type Progress = (done: number) => void;

/**
 * Pushes the tills of the days that the location does not have yet, a few at a time, and says how many it pushed. A day
 * that it has with other content, from an older version of the demo, is left as it is.
 */
export async function pushMissingTills(
  api: PublicApi,
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

/**
 * Waits until the report of each day can be read, and gives the id of the newest. Throws when none is added for too
 * long.
 */
export async function awaitReports(api: PublicApi, days: readonly DemoDay[], progress: Progress): Promise<string> {
  let most = 0;
  for (let quietPolls = 0; quietPolls < mostQuietPolls; quietPolls++) {
    const idByStart = await readReports(api, days);
    const ready = days.filter(({ startsAt }) => idByStart.has(startsAt)).length;
    const newest = idByStart.get(days.at(-1)?.startsAt ?? 0);
    if (ready === days.length && newest) return newest;
    if (ready > most) quietPolls = 0;
    most = Math.max(most, ready);
    progress(ready);
    await api.wait(pollInterval);
  }
  throw new Error(
    `Only ${most} of ${days.length} reports can be read, and none was added for a minute. The tills are safe: their ` +
      "reports follow once the reporting service works again. Its log says what holds it up.",
  );
}

async function pushIfMissing(api: PublicApi, locationId: string, day: DemoDay): Promise<boolean> {
  const known = await api.callUnless([404], { path: `/v1/tills/${day.tillId}`, reply: z.unknown() });
  if (known !== null) return false;
  const body = demoTill(locationId, day);
  const pushed = await api.callUnless([409], { method: "POST", path: "/v2/tills/", body, reply: z.unknown() });
  return pushed !== null;
}

const reportPage = pageOf(z.object({ id: z.guid(), startedAt: z.iso.datetime({ offset: true }) }));

async function readReports(api: PublicApi, days: readonly DemoDay[]): Promise<Map<number, string>> {
  const period = new URLSearchParams({ since: days.at(0)?.day ?? "", until: days.at(-1)?.day ?? "", size: "100" });
  const { data } = await api.call({ path: `/v2/reports/?${period}`, reply: reportPage });
  return new Map(data.map(({ id, startedAt }) => [Date.parse(startedAt), id]));
}

const pushesAtOnce = 3;

/** Milliseconds between two looks at the reports. */
const pollInterval = 500;

/** A minute. */
const mostQuietPolls = 120;
