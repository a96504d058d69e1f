import { type EReportKind, type EReportState, eReportKinds } from "@pragma/contracts/e-report";
import { lockInTransaction, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { Logger } from "@pragma/runtime/observability/logger";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { Temporal } from "temporal-polyfill";
import { v5 as uuidV5 } from "uuid";
import { listLocationsOfBusiness } from "../access.ts";
import { findDeclarant } from "../queries/declarants.ts";
import { type EReportServices, findEarliestToday, type PeriodReport, readPeriodReports } from "../read-e-report.ts";

const intervalSeconds = 60;
const maxBusinessesPerRun = 100;
/** How long ago a period may have ended when a business sets up e-reporting. Earlier ones are compared when a till changes. */
const firstComparedDays = 31;

/**
 * Publishes `e_report.ready` when a period can be taken, and `e_report.changed` when one that was taken has changed, for
 * each location of the business. Compares only periods that have ended or whose tills have changed since the last run.
 */
export const publishEReportEventsTask: PeriodicTask<EReportServices & { log: Logger }> = {
  name: "publish events of e-reports",
  intervalSeconds,
  async run(services) {
    const businesses = await services.db.sql<{ siren: string }[]>`
      update e_declarants as declarant set tried_at = now() where siren in (
        select siren from e_declarants as waiting
        where compared_until is null or compared_until < current_date
          or exists (select from e_changed_days as changed where changed.siren = waiting.siren)
        order by coalesce(tried_at, created_at), siren limit ${maxBusinessesPerRun}
      ) returning siren`;
    for (const { siren } of businesses) {
      try {
        await publishEReportEvents(services, siren);
      } catch (error) {
        services.log.error({ err: error, siren }, "the e-reports of a business could not be compared");
      }
    }
    // Days of businesses without settings are compared when they get some.
    await services.db.sql`
      delete from e_changed_days as changed
      where not exists (select from e_declarants as declarant where declarant.siren = changed.siren)`;
  },
};

export function publishEReportEvents(services: EReportServices, siren: string, now = new Date()): Promise<void> {
  return runWithObservabilityContext({}, (context) =>
    services.db.transaction(async (tx) => {
      await lockInTransaction(tx, services.db, `e-report events ${siren}`);
      const declarant = await findDeclarant(tx, siren);
      if (!declarant) return;
      const { settings, comparedUntil } = declarant;
      const changedDays = await takeChangedDays(tx, siren);
      const { locations } = await listLocationsOfBusiness(tx, siren, settings);
      const today = findEarliestToday(locations, now);
      const yesterday = addDays(today, -1);
      // The periods that ended since the last comparison have a day in this range.
      const endedSince = comparedUntil ?? addDays(today, -firstComparedDays);
      for (const kind of eReportKinds) {
        const read = (since: string, until: string) =>
          readPeriodReports(services, tx, { siren, settings, kind, since, until }, context);
        const reports = endedSince <= yesterday ? await read(endedSince, yesterday) : [];
        const compared = reports.filter(({ period: { last } }) => last < today);
        for (const day of changedDays)
          if (!compared.some(({ period: { first, last } }) => first <= day && day <= last))
            compared.push(...(await read(day, day)));
        for (const report of compared)
          await publishState(tx, { siren, kind, report, locationIds: settings.locationIds });
      }
      await tx`update e_declarants set compared_until = ${today}::text::date where siren = ${siren}`;
    }),
  );
}

/** The maximum number of days that are compared in one transaction. */
const maxChangedDays = 366;

/**
 * Deletes the changed days of a business, and returns them. Waits for transactions that are changing their figures, which
 * have locked them, so that what is read next contains the changes.
 */
async function takeChangedDays(tx: SqlTransaction, siren: string): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    with locked as (
      select location_id, day from e_changed_days
      where siren = ${siren} order by location_id, siren, day limit ${maxChangedDays} for update
    )
    delete from e_changed_days as changed using locked
    where changed.siren = ${siren} and changed.location_id = locked.location_id and changed.day = locked.day
    returning changed.day::text as day`;
  return [...new Set(rows.map(({ day }) => day))].filter((day) => /^20\d\d-/.test(day)).sort();
}

const publishedStates: readonly EReportState[] = ["ready", "changed"];

interface StateChange {
  siren: string;
  kind: EReportKind;
  report: PeriodReport;
  /** Those of the settings: a location whose only till was withdrawn states the SIREN no more. */
  locationIds: readonly string[];
}

async function publishState(
  tx: SqlTransaction,
  { siren, kind, report: { period, state, lastTransmission }, locationIds }: StateChange,
): Promise<void> {
  // A period that is taken again is published again when it changes.
  const described = `${state} ${lastTransmission?.number ?? 0} ${period.last}`;
  const [stored] = await tx<{ revision: number }[]>`
    insert into e_published_states as published (siren, kind, period, state)
    values (${siren}, ${kind}, ${period.first}::text::date, ${described})
    on conflict (siren, kind, period) do update set state = excluded.state, revision = published.revision + 1
    where published.state <> excluded.state
    returning revision`;
  if (!stored || !publishedStates.includes(state)) return;
  const type = state === "ready" ? "e_report.ready" : "e_report.changed";
  for (const locationId of locationIds) {
    const data = { locationId, siren, kind, period: period.first, until: period.last, dueOn: period.dueOn };
    const id = uuidV5(`e-report ${siren} ${kind} ${period.first} ${stored.revision}`, locationId);
    await writeEventToOutbox(tx, type, { id, subject: locationId, data, traceparent: undefined });
  }
}

const addDays = (day: string, days: number) => Temporal.PlainDate.from(day).add({ days }).toString();
