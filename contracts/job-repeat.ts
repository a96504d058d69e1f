import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { limitedText } from "./length-limits.ts";
import { TimeZone } from "./time-zone.ts";

const instant = z.union([DateTime, z.int().min(0)], {
  error: "Must be a date-time with an offset or Z, or milliseconds since 1970",
});

/** How a job is done again and again. */
export const Repeat = z
  .object({
    every: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Milliseconds from one run to the next; the first is at once" }),
    pattern: limitedText(255).optional().meta({
      description:
        "Instead of every: a cron pattern of five or six fields, seconds first when six. It has to come true within ten years; H is not supported",
    }),
    tz: TimeZone.optional().meta({ description: "Of the pattern; UTC when left out" }),
    limit: z.int().min(1).optional().meta({ description: "Number of runs" }),
    startDate: instant.optional().meta({ description: "No run before" }),
    endDate: instant.optional().meta({ description: "No run after" }),
    immediately: z.boolean().optional().meta({ description: "With a pattern: the first run is at once" }),
  })
  .meta({
    description: "Done again and again, until its limit or endDate. Each run has as many attempts as the job",
    example: { every: 3_600_000, limit: 24 },
  });

export type Repeat = z.infer<typeof Repeat>;

/** Which finished jobs are kept. */
export const KeepFinished = z
  .union([
    z.boolean(),
    z.int().min(0),
    z.object({
      age: z.int().min(0).optional(),
      count: z.int().min(0).optional(),
      limit: z.int().min(1).optional(),
    }),
  ])
  .meta({
    description:
      "What stays, once this job has finished, of the location's jobs that finished in the same way. true: this job is forgotten. " +
      "A number, or count: so many, the last ones. age: those of the last so many seconds (of older ones at most limit are forgotten at once). Forgotten: 404",
  });

export type KeepFinished = z.infer<typeof KeepFinished>;
