import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import type { SqlClient } from "../database/postgres.ts";
import type { Logger } from "../observability/logger.ts";
import type { EventBus } from "./event-bus.ts";
import { type EventStreamKind, isMissingInJetStream } from "./event-streams.ts";
import { findFirstSentSequence, findLastSentEvent, requeueSentEvents, type SentEvent } from "./sent-events.ts";
import { buildRollbackNoticeSubject, publishRollbackNotice } from "./stream-rollback-notice.ts";

const checkIntervalMs = 60_000;
/** The minimum milliseconds until a check that could not be made because NATS is unavailable. */
const minPauseMs = 5_000;
/** The maximum number of deleted sequences that one query compares with the sent events. */
const deletedBatchSize = 5_000;

interface StreamLossRepairOptions {
  service: string;
  sql: SqlClient;
  bus: EventBus;
  stream: EventStreamKind;
  /** Returns whether this instance is the leader of the relays, and therefore checks the stream. */
  isLeader(): boolean;
  log: Logger;
}

/**
 * Creates the repair of a stream that has lost events that it has acknowledged to a relay. NATS acknowledges an event
 * before it is on disk, so a power cut or a restored copy can roll the stream back. Events that the stream has lost are
 * moved back to the outbox. Their ids and the inboxes make sure that each has its effect once.
 */
export function createStreamLossRepair({ service, sql, bus, stream, isLeader, log }: StreamLossRepairOptions) {
  let checkedEpoch = 0;
  let checkedAt = 0;
  let lastSequence = 0;
  let numDeleted = 0;
  let requeuedCount = 0;
  let rollbackSequences = 0;

  /** Returns whether the stream has an event at its sequence, or had it until it expired. */
  async function hasEvent(manager: JetStreamManager, event: SentEvent, info: StreamInfo): Promise<boolean> {
    if (event.streamSequence < info.state.first_seq) return event.sentAt < getOldestTime(info);
    const message = await manager.streams.getMessage(bus.streams[stream], { seq: event.streamSequence });
    return message?.header?.get("Nats-Msg-Id") === event.id;
  }

  /** Returns, by binary search, the sequence from which on the stream lacks all sent events of this service. */
  async function findDivergence(manager: JetStreamManager, last: SentEvent, info: StreamInfo): Promise<number> {
    let held = 0;
    let lost = last.streamSequence;
    while (lost - held > 1) {
      const middle = Math.floor((held + lost) / 2);
      const event = await findLastSentEvent(sql, stream, middle);
      if (!event || event.streamSequence <= held || (await hasEvent(manager, event, info))) held = middle;
      else lost = event.streamSequence;
    }
    return lost;
  }

  /** Moves the events that the stream has lost back to the outbox. Returns their number. */
  async function requeueLostEvents(last: SentEvent): Promise<number> {
    const { client, manager } = await bus.connected;
    const name = bus.streams[stream];
    const info = await manager.streams.info(name).catch(async (error) => {
      if (!isMissingInJetStream(error)) throw error;
      await bus.ensureStream(stream);
      return manager.streams.info(name);
    });
    rollbackSequences = Math.max(0, last.streamSequence - info.state.last_seq);
    let requeued = 0;
    if (!(await hasEvent(manager, last, info))) {
      rollbackSequences = Math.max(1, rollbackSequences);
      const divergence = await findDivergence(manager, last, info);
      const before = await findLastSentEvent(sql, stream, divergence - 1);
      // Published first, because consumers may skip whatever is published from now on. If the process dies before the
      // events have been moved, the next check finds them again.
      await publishRollbackNotice(client, buildRollbackNoticeSubject(bus.subjectPrefixes[stream], service), {
        startSequence: (before?.streamSequence ?? 0) + 1,
      });
      requeued += await requeueSentEvents(sql, stream, sql`stream_sequence >= ${divergence}`);
    }
    requeued += await requeueSentEvents(
      sql,
      stream,
      sql`stream_sequence < ${info.state.first_seq} and sent_at > ${getOldestTime(info)}`,
    );
    // Sequences are missing after `ops location remove`, of which no events are left here, and if a block was lost.
    if ((info.state.num_deleted ?? 0) !== numDeleted) {
      const { state } = await manager.streams.info(name, { deleted_details: true });
      // A stream can have millions of deleted sequences that are older than the sent events.
      const oldest = await findFirstSentSequence(sql, stream);
      const deleted = (state.deleted ?? []).filter((sequence) => sequence >= oldest);
      let found = 0;
      for (let start = 0; start < deleted.length; start += deletedBatchSize) {
        const batch = deleted.slice(start, start + deletedBatchSize);
        found += await requeueSentEvents(sql, stream, sql`stream_sequence = any(${batch}::bigint[])`);
      }
      // Compared again, because a server that was not restarted takes a deleted event for a duplicate for two minutes.
      if (found === 0) numDeleted = state.num_deleted ?? 0;
      requeued += found;
    }
    return requeued;
  }

  async function check(): Promise<void> {
    const epoch = bus.connectionEpoch();
    const last = await findLastSentEvent(sql, stream);
    const requeued = last ? await requeueLostEvents(last) : 0;
    if (requeued > 0) {
      requeuedCount += requeued;
      log.error({ stream: bus.streams[stream], events: requeued }, "the stream has lost events; publishing them again");
    }
    lastSequence = (requeued > 0 ? await findLastSentEvent(sql, stream) : last)?.streamSequence ?? 0;
    rollbackSequences = 0;
    checkedEpoch = epoch;
    checkedAt = Date.now();
  }

  return {
    async checkIfDue(): Promise<void> {
      if (bus.connectionEpoch() !== checkedEpoch || Date.now() - checkedAt >= checkIntervalMs) await check();
    },
    /** Returns after how many milliseconds the stream should be checked again, unless NATS connects before. */
    getMsUntilCheck: () => Math.min(checkIntervalMs, Math.max(minPauseMs, checkedAt + checkIntervalMs - Date.now())),
    /**
     * Records acknowledged sequences. Returns false if the stream may have been rolled back and must be checked first:
     * on another connection than that of the check, or if new events are not above all earlier ones.
     */
    tryRecordAcknowledgments(acknowledged: readonly { streamSequence: number; isDuplicate: boolean }[]): boolean {
      const isAhead = acknowledged.every((each) => each.isDuplicate || each.streamSequence > lastSequence);
      if (bus.connectionEpoch() === checkedEpoch && isAhead) {
        lastSequence = Math.max(lastSequence, ...acknowledged.map(({ streamSequence }) => streamSequence));
        return true;
      }
      checkedEpoch = 0;
      return false;
    },
    /** By how many sequences the stream was rolled back, until the lost events are in the outbox again. */
    getRollbackSequences: () => (isLeader() ? rollbackSequences : 0),
    /** Returns the number of events that were moved back to the outbox since the start. */
    countRequeued: () => requeuedCount,
  };
}

/** Returns the time before which events have expired from a stream. */
function getOldestTime({ config }: StreamInfo): Date {
  const maxAgeMs = config.max_age / 1e6;
  return new Date(maxAgeMs > 0 ? Date.now() - maxAgeMs : 0);
}
