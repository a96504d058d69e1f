import type { JetStreamClient, JetStreamManager, MsgRequest } from "@nats-io/jetstream";
import { z } from "zod";

const noticeSchema = z.object({
  /** Consumers must read again from here: never after the first reassigned sequence, possibly before it. */
  startSequence: z.int().min(1),
});

/**
 * Tells services that a stream was rolled back and reassigns sequences, which their consumers would skip. `time` is when
 * NATS stored the notice, in milliseconds. It distinguishes the notices of a stream.
 */
export type StreamRollbackNotice = z.infer<typeof noticeSchema> & { time: number };

/** Returns the subject on which the relay of a service publishes rollback notices. `*` stands for all services. */
export const buildRollbackNoticeSubject = (subjectPrefix: string, service: string): string =>
  `${subjectPrefix}.stream-rollback.${service}`;

export async function publishRollbackNotice(
  client: JetStreamClient,
  subject: string,
  notice: z.infer<typeof noticeSchema>,
): Promise<void> {
  await client.publish(subject, JSON.stringify(notice));
}

/** Returns the notices of the last 14 days, oldest first. */
export async function listRollbackNotices(
  manager: JetStreamManager,
  { stream, subject }: { stream: string; subject: string },
): Promise<StreamRollbackNotice[]> {
  const notices: StreamRollbackNotice[] = [];
  for (let seq = 1; ; ) {
    // The type lacks `next_by_subj`, which NATS knows since 2.9.
    const message = await manager.streams.getMessage(stream, { seq, next_by_subj: subject } as MsgRequest);
    if (!message) return notices;
    notices.push({ ...noticeSchema.parse(message.json()), time: message.time.getTime() });
    seq = message.seq + 1;
  }
}
