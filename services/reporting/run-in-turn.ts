import type { Principal } from "@pragma/contracts/principal";
import { getSenderId } from "@pragma/runtime/http/request-identity";
import type { ReportingContext } from "./context.ts";

interface Turn {
  services: Pick<ReportingContext, "metricsQueries">;
  principal: Principal;
  signal: AbortSignal;
  runOutsideAdmission<Result>(run: () => Promise<Result>): Promise<Result>;
}

/** Reads the figures of many tills when it is the turn of the location, so that others need not wait. */
export const runInTurn = <Result>(
  { services, principal, signal, runOutsideAdmission }: Turn,
  run: () => Promise<Result>,
): Promise<Result> => runOutsideAdmission(() => services.metricsQueries.run(run, getSenderId(principal), { signal }));
