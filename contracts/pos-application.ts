import { z } from "zod";

/** The point-of-sale applications that tills come from. */
export const posApplications = ["POPINA", "JALIA"] as const;

export type PosApplication = (typeof posApplications)[number];

/** An application named in a query or a reply. */
export const posApplicationSchema = z
  .enum(posApplications)
  .meta({ description: "The point-of-sale application", example: "POPINA" });

/** An application named in a body: clients in the field write it in either case. */
export const posApplicationInputSchema = z
  .preprocess((value) => (typeof value === "string" ? value.toUpperCase() : value), z.enum(posApplications))
  .meta({
    description: "The point-of-sale application, in either case",
    example: "popina",
    enum: ["popina", "jalia", "POPINA", "JALIA"],
  });
