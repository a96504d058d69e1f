import { randomUUID } from "node:crypto";
import { type RequestIssue, withoutReceivedValue } from "@pragma/contracts/errors";
import { failedRequestTextLimits, maxStoredIssues, type UsageBatch, usageBatchLimits } from "@pragma/contracts/usage";
import { getRoutePrefix, mcpPath, routeTable } from "../forwarding/route-table.ts";
import { hiddenText, hidePathValues } from "./hide-path-values.ts";

/** The fields of a finished request that are counted. Their names are those of the log line of the request. */
export interface FinishedRequest {
  /** Undefined if the request had no valid API key. */
  keyId?: string | undefined;
  /** Undefined if the gateway responded before it forwarded the request, for example because of a rate limit. */
  route?: string | undefined;
  path: string;
  method: string;
  status: number;
  code?: unknown;
  requestId: string;
  requestIssues?: readonly RequestIssue[] | undefined;
  /** The size of the body that the client announced. */
  requestBytes?: number | null | undefined;
}

type StoredFailure = UsageBatch["failures"][number];

/** Requests that failed in the same way: with the same key, route, method, status and error code. */
interface FailureGroup extends Pick<StoredFailure, "keyId" | "route" | "method" | "status" | "code" | "count"> {
  /** The latest of the requests, oldest first. */
  latest: (Pick<StoredFailure, "requestId" | "path" | "issues" | "requestBytes"> & { failedAt: number })[];
}

/** The only routes that are counted, besides `other`. */
const routes = new Set([...Object.keys(routeTable), mcpPath]);

/** Maximum number of counts in memory: of one minute for as many keys as the gateway caches, with two counts each. */
const maxCounts = 50_000;
/** Maximum numbers of failure groups in memory, in total and per API key, and of the requests of each group. */
const maxFailureGroups = 1_000;
const maxFailureGroupsPerKey = 10;
const maxLatestPerGroup = 3;

export type UsageCounter = ReturnType<typeof createUsageCounter>;

/**
 * Creates a counter of requests by API key, minute, route and class of statuses. Its memory is limited. `pathWords` are the
 * words of the API's paths.
 */
export function createUsageCounter(pathWords: ReadonlySet<string>) {
  /** By key, minute, route and class of statuses, oldest first. */
  const counts = new Map<string, UsageBatch["counts"][number]>();
  let failureGroups = new Map<string, FailureGroup>();
  let failureGroupCounts = new Map<string, number>();
  let droppedRequests = 0;

  function addFailure(request: FinishedRequest, keyId: string, route: string, now: number): void {
    const { method, status, requestId } = request;
    const code = typeof request.code === "string" ? request.code : null;
    const groupKey = `${keyId} ${route} ${method} ${status} ${code}`;
    let group = failureGroups.get(groupKey);
    if (!group) {
      const groupsOfKey = failureGroupCounts.get(keyId) ?? 0;
      if (groupsOfKey >= maxFailureGroupsPerKey || failureGroups.size >= maxFailureGroups) return;
      group = { keyId, route, method, status, code, latest: [], count: 0 };
      failureGroups.set(groupKey, group);
      failureGroupCounts.set(keyId, groupsOfKey + 1);
    }
    group.count++;
    if (group.latest.length === maxLatestPerGroup) group.latest.shift();
    const path = hidePathValues(request.path, pathWords);
    const issues = toStoredIssues(request.requestIssues);
    group.latest.push({ failedAt: now, requestId, path, issues, requestBytes: request.requestBytes ?? null });
  }

  function takeCounts(): UsageBatch["counts"] {
    const taken = [...counts].slice(0, usageBatchLimits.counts);
    for (const [countKey] of taken) counts.delete(countKey);
    return taken.map(([, count]) => count);
  }

  function takeFailures(): UsageBatch["failures"] {
    const taken: UsageBatch["failures"] = [];
    for (const [groupKey, { latest, count, ...group }] of failureGroups) {
      if (taken.length + latest.length > usageBatchLimits.failures) return taken;
      failureGroups.delete(groupKey);
      for (const [index, { failedAt, ...details }] of latest.entries()) {
        // The latest request also stands for those that are not in the batch.
        const isLast = index === latest.length - 1;
        const time = new Date(failedAt).toISOString();
        taken.push({ ...group, ...details, failedAt: time, count: isLast ? 1 + count - latest.length : 1 });
      }
    }
    failureGroups = new Map();
    failureGroupCounts = new Map();
    return taken;
  }

  return {
    /** Counts a finished request at the time `now`, in milliseconds. */
    add(request: FinishedRequest, now: number): void {
      const { keyId, status } = request;
      if (keyId === undefined) return;
      const prefix = request.route ?? getRoutePrefix(request.path);
      const route = routes.has(prefix) ? prefix : "other";
      const minute = Math.floor(now / 60_000);
      const statusClass = Math.trunc(status / 100);
      const countKey = `${keyId} ${minute} ${route} ${statusClass}`;
      const count = counts.get(countKey);
      if (count) count.requestCount++;
      else if (counts.size >= maxCounts) droppedRequests++;
      else counts.set(countKey, { keyId, minute, route, statusClass, requestCount: 1 });
      if (status >= 400) addFailure(request, keyId, route, now);
    },
    /** Removes the oldest counts and failures that fit into one batch, and returns them. Undefined if there are none. */
    takeBatch(): UsageBatch | undefined {
      const batch = { id: randomUUID(), counts: takeCounts(), failures: takeFailures() };
      return batch.counts.length > 0 || batch.failures.length > 0 ? batch : undefined;
    },
    /** The number of requests that were not counted because the memory for counts was full. */
    get droppedRequests(): number {
      return droppedRequests;
    },
  };
}

/**
 * The paths of issues that consist of words and indexes, as the names of fields do. Others contain what a client chose
 * freely: a key or a phone number can be sent as the name of a parameter.
 */
const fieldPathPattern =
  /^(?:[A-Za-z][A-Za-z_-]{0,39}\d{0,2}|\[\d{1,6}\])?(?:\.[A-Za-z][A-Za-z_-]{0,39}\d{0,2}|\[\d{1,6}\])*$/;

/** Returns the first issues, without received values, and cut to the lengths that a batch allows. */
function toStoredIssues(issues: readonly RequestIssue[] = []): StoredFailure["issues"] {
  const { issuePath, issueMessage } = failedRequestTextLimits;
  return issues.slice(0, maxStoredIssues).map(({ in: part, path, code, message }) => ({
    in: part,
    path: fieldPathPattern.test(path) ? path.slice(0, issuePath) : hiddenText,
    code,
    message: removeControls(withoutReceivedValue(message).slice(0, issueMessage)),
  }));
}

/**
 * Removes control characters and unpaired surrogates, which take six bytes in JSON, and of which PostgreSQL rejects some. The
 * text must have been cut before, because a cut can separate a pair of surrogates.
 */
const removeControls = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cs}]/gu, "");
