import type { JetStreamClient, JetStreamManager, MsgRequest } from "@nats-io/jetstream";
import { z } from "zod";

/**
 * A message in an event stream, from which services learn that the stream went back, for example after a power cut. The
 * stream has reassigned positions since then, which consumers that were ahead of it would skip.
 */
export interface StreamRecovery {
  /** The position from which consumers must read the stream again: at most one above those that were not reassigned. */
  startSequence: number;
  /** The time at which NATS stored the message, in milliseconds. It distinguishes the recoveries of a stream. */
  time: number;
}

const recoverySchema = z.object({ startSequence: z.int().min(1) });

/** Returns the subject on which the relay of a service announces recoveries. `*` stands for all services. */
export const buildRecoverySubject = (subjectPrefix: string, service: string): string =>
  `${subjectPrefix}.stream-recovery.${service}`;

/** Returns whether a message in a stream announces a recovery, and is not an event. */
export const isRecoverySubject = (subject: string): boolean => /\.stream-recovery\.[^.]+$/.test(subject);

/** Announces that a stream went back. Resolves when the stream has stored the message. */
export async function announceStreamRecovery(
  client: JetStreamClient,
  subject: string,
  recovery: z.infer<typeof recoverySchema>,
): Promise<void> {
  await client.publish(subject, JSON.stringify(recovery));
}

/** Returns the recoveries that a stream contains, oldest first. There are none, unless it went back in the last 14 days. */
export async function listStreamRecoveries(
  manager: JetStreamManager,
  { stream, subject }: { stream: string; subject: string },
): Promise<StreamRecovery[]> {
  const recoveries: StreamRecovery[] = [];
  for (let seq = 1; ; ) {
    // The type lacks `next_by_subj`, which NATS knows since 2.9.
    const message = await manager.streams.getMessage(stream, { seq, next_by_subj: subject } as MsgRequest);
    if (!message) return recoveries;
    recoveries.push({ ...recoverySchema.parse(message.json()), time: message.time.getTime() });
    seq = message.seq + 1;
  }
}
