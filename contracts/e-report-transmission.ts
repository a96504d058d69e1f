import { array, object, z } from "zod";
import { field, requestBodySchema } from "./fields.ts";

const transmissionExample = {
  number: 1,
  id: "732829320-T-20270901-1",
  type: "IN" as const,
  takenAt: "2027-09-11T08:00:00.000Z",
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  bytes: 4_512,
  href: "http://127.0.0.1:4000/v1/e-reports/732829320/transactions/2027-09-01/transmissions/1",
};

export const EReportTransmission = object({
  number: field.positiveInteger("Number of the transmission in its period, from 1"),
  id: field.text("ID of the transmission in the file, unique by period and SIREN"),
  type: z
    .enum(["IN", "RE"])
    .describe("`IN`: the first of its period. `RE`: replaces everything that was sent for the period."),
  takenAt: field.dateTime("When the file was taken"),
  sha256: field.text("SHA-256 hash of the file, in hexadecimal"),
  bytes: field.count("Size of the file in bytes"),
  href: field.url("URL of the file"),
}).meta({
  id: "EReportTransmission",
  description: "A file as it was taken. It never changes.",
  example: transmissionExample,
});

export const EReportTransmissionList = object({
  data: array(EReportTransmission).describe("The files, latest first"),
}).meta({
  id: "EReportTransmissionList",
  description: "The files of a period that were taken",
  example: { data: [transmissionExample] },
});
export type EReportTransmission = z.infer<typeof EReportTransmission>;

export const TakeEReportRequest = requestBodySchema({
  acceptsIncompleteDays: field.falseByDefault(
    "Takes the report although business days of the period are `incomplete`, for example because a report number was never used",
  ),
}).meta({
  id: "TakeEReport",
  description: "What is accepted",
  example: { acceptsIncompleteDays: false },
});
