import { type ConsumerInfo, DeliverPolicy, type JetStreamManager } from "@nats-io/jetstream";
import type { BusEventType } from "@pragma/contracts/events";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import { sleep } from "../concurrency/sleep.ts";
import type { LeaderElection } from "../database/leader-election.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import { repeatWithBackoffUntilAborted } from "../retries/transient-error.ts";
import type { EventBus } from "./event-bus.ts";
import { buildConsumerConfig, buildNatsConsumerName } from "./event-consumer.ts";
import { type EventStreamKind, eventStreamKinds, getEventStreamKind, isMissingInJetStream } from "./event-streams.ts";
import {
  buildRollbackNoticeSubject,
  listRollbackNotices,
  type StreamRollbackNotice,
} from "./stream-rollback-notice.ts";

interface ConsumerRewinderOptions {
  service: string;
  types: readonly BusEventType[];
  bus: EventBus;
  leadership: LeaderElection;
  log: Logger;
}

export type ConsumerRewinder = ReturnType<typeof startConsumerRewinder>;

const checkIntervalMs = 60_000;
/** Milliseconds to wait after a notice, because the relays of several services publish one after the same rollback. */
const settleMs = 500;
const leaderRole = "consumer rewind";

/**
 * Starts the checks that no consumer of a service is ahead of its stream. NATS stores the progress of a consumer apart from
 * the stream, so if the stream is rolled back, a consumer silently skips the events that get sequences which it has already
 * delivered. Therefore, after a rollback notice, all consumers of the stream that are older than the notice are recreated,
 * and read from before the first lost event. Without a notice, a consumer that stays ahead for a minute is recreated, and
 * reads the whole stream. The inbox ensures that each event takes effect once. One instance checks at each connect, at
 * each rollback notice, and once a minute.
 */
export function startConsumerRewinder({ service, types, bus, leadership, log }: ConsumerRewinderOptions) {
  const stopping = new AbortController();
  let checkNow = new AbortController();
  /** By how many sequences consumers are ahead of their streams, and since when. */
  const ahead = new Map<BusEventType, { sequences: number; since: number }>();
  const recreated = new Map<BusEventType, number>();
  const kinds = eventStreamKinds.filter((kind) => types.some((type) => getEventStreamKind(type) === kind));

  const subjectOf = (kind: EventStreamKind) => buildRollbackNoticeSubject(bus.subjectPrefixes[kind], "*");
  const requestCheck = () => checkNow.abort();
  bus.onConnected(requestCheck);
  bus.connected
    .then(({ nats }) => kinds.map((kind) => nats.subscribe(subjectOf(kind), { callback: requestCheck })))
    .catch(() => {});

  async function checkStream(manager: JetStreamManager, kind: EventStreamKind): Promise<void> {
    const stream = bus.streams[kind];
    const notices = await listRollbackNotices(manager, { stream, subject: subjectOf(kind) });
    const consumers = await readConsumers(manager, kind);
    // Read after the consumers, so that none seems to be ahead because of events that have arrived meanwhile.
    const { last_seq: lastSequence } = (await manager.streams.info(stream)).state;
    for (const { type, info } of consumers) {
      const isAhead = isAheadForLong(type, info.delivered.stream_seq - lastSequence);
      const startSequence = findStartSequence(info, notices) ?? (isAhead ? 1 : undefined);
      if (startSequence === undefined) continue;
      await manager.consumers.delete(stream, info.name);
      await manager.consumers.add(stream, {
        ...buildConsumerConfig(service, type, bus),
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: startSequence,
      });
      ahead.delete(type);
      recreated.set(type, (recreated.get(type) ?? 0) + 1);
      log.warn({ event: type, startSequence, lastSequence }, "the stream was rolled back; its consumer was recreated");
    }
  }

  async function readConsumers(manager: JetStreamManager, kind: EventStreamKind) {
    const consumers: { type: BusEventType; info: ConsumerInfo }[] = [];
    for (const type of types.filter((each) => getEventStreamKind(each) === kind))
      try {
        const info = await manager.consumers.info(bus.streams[kind], buildNatsConsumerName(service, type));
        consumers.push({ type, info });
      } catch (error) {
        // It does not exist yet, or was deleted with its stream. Then it is created and reads everything.
        if (!isMissingInJetStream(error)) throw error;
      }
    return consumers;
  }

  /**
   * Records by how many sequences a consumer is ahead. Returns whether it has been ahead for the interval of the checks and
   * no relay has published a rollback notice, for example because the lost events were older than those in `sent_events`.
   */
  function isAheadForLong(type: BusEventType, sequences: number): boolean {
    if (sequences <= 0) {
      ahead.delete(type);
      return false;
    }
    const since = ahead.get(type)?.since ?? Date.now();
    ahead.set(type, { sequences, since });
    return Date.now() - since >= checkIntervalMs;
  }

  async function check(): Promise<void> {
    const { manager } = await racePromiseWithAbort(bus.connected, stopping.signal);
    if (!(await leadership.tryBecomeLeader(leaderRole))) return ahead.clear();
    if (!bus.currentConnection()) return;
    for (const kind of kinds)
      await checkStream(manager, kind).catch((error) => {
        // A stream is created when a service publishes to it or consumes it.
        if (!isMissingInJetStream(error)) throw error;
      });
  }

  const outageLog = createOutageLog(log, "cannot check whether consumers are ahead of their streams");
  const running = repeatWithBackoffUntilAborted(stopping.signal, outageLog, async () => {
    await check();
    await sleep(checkIntervalMs, checkNow.signal);
    if (checkNow.signal.aborted) await sleep(settleMs, stopping.signal);
    checkNow = new AbortController();
  });

  return {
    /** By how many sequences consumers are ahead of their streams. Empty if another instance is the leader. */
    listConsumersAhead(): Map<BusEventType, number> {
      const known = leadership.isLeader(leaderRole) ? [...ahead] : [];
      return new Map(known.map(([type, { sequences }]) => [type, sequences]));
    },
    /** Returns how often the consumer of an event type was recreated since the start. */
    countRecreated: (type: BusEventType) => recreated.get(type) ?? 0,
    async stop(): Promise<void> {
      stopping.abort();
      checkNow.abort();
      await running;
    },
  };
}

/** Returns the sequence from which a consumer must read again; undefined if it is newer than all notices. */
function findStartSequence({ created, ack_floor }: ConsumerInfo, notices: StreamRollbackNotice[]): number | undefined {
  const missed = notices.filter(({ time }) => time >= Date.parse(created));
  if (missed.length === 0) return undefined;
  return Math.min(ack_floor.stream_seq + 1, ...missed.map(({ startSequence }) => startSequence));
}
