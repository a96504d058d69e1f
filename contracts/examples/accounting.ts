/** The examples of an accounting config and an accounting export in the documentation. */

import { computeTillReportId } from "../till-report-id.ts";

const locationId = "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11";
const exportId = "5d0a1b6e-2c52-4f0e-9a60-7d1b8a5b5c44";
const tillId = "8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2";
const otherTillId = "1f6d9f5c-53a1-4c1b-9e0b-0f3f5d8f6a20";

export const accountingConfigExample = {
  id: "b1d0f6c2-0a52-4f7e-8f43-5f6c2d1e9a70",
  createdAt: "2026-05-20T09:00:00.000Z",
  updatedAt: "2026-05-20T09:00:00.000Z",
  locationId,
  name: "Plan comptable général",
  journalCode: "CA",
  journalLabel: "Caisse",
  entryLabel: "Caisse",
  discountBooking: "net" as const,
  cashDifference: true,
  paymentMethods: [],
  customerAuxiliary: null,
};

const item = { accountingConfigId: accountingConfigExample.id, accountingProvider: "FULLL" as const, locationId };

export const accountingExportItemsExample = [
  { tillId, ...item },
  { tillId: otherTillId, ...item },
];

export const startedAccountingExportExample = { id: exportId, tillsIds: [tillId, otherTillId] };

export const accountingExportExample = {
  ...startedAccountingExportExample,
  state: "failed" as const,
  createdAt: "2026-06-01T08:00:00.000Z",
  startedAt: "2026-06-01T08:00:00.120Z",
  finishedAt: "2026-06-01T08:00:00.410Z",
  tills: [
    { tillId, reportId: computeTillReportId(tillId), ...item, state: "done" as const, failure: null, fileNumber: 1 },
    {
      tillId: otherTillId,
      reportId: computeTillReportId(otherTillId),
      ...item,
      state: "failed" as const,
      failure: {
        code: "unbalanced" as const,
        message:
          "Report 25 of 2026-05-30: The till's figures are inconsistent, so debits and credits would differ. `gaps` lists the differences and their orders.",
        day: "2026-05-30",
        reportNumber: 25,
        gaps: [
          {
            code: "payments" as const,
            amount: 250,
            orderCount: 1,
            orders: [
              {
                orderId: "3c1f0a52-7e1b-4f7a-9a53-0c8f5b1d2e64",
                openedAt: "2026-05-30T18:12:00.000Z",
                tableName: "12",
                total: 4250,
                amount: 250,
              },
            ],
            message: "Orders total 1842.50 EUR, but 1840.00 EUR is paid or left to pay: 2.50 EUR is missing.",
          },
        ],
      },
      fileNumber: null,
    },
  ],
  files: [
    {
      number: 1,
      ...item,
      name: "123456789FEC20260529.txt",
      size: 2417,
      tills: 1,
      entries: 3,
      fileUrl: `http://127.0.0.1:4000/v1/accounting/exports/${exportId}/files/1`,
    },
  ],
};

export const accountingExportListItemExample = {
  id: exportId,
  state: accountingExportExample.state,
  createdAt: accountingExportExample.createdAt,
  startedAt: accountingExportExample.startedAt,
  finishedAt: accountingExportExample.finishedAt,
  tillCount: 2,
  failedTillCount: 1,
  fileCount: 1,
  bytes: 2417,
};

export const accountingFileTextExample = [
  "JournalCode\tJournalLib\tEcritureNum\tEcritureDate\tCompteNum\tCompteLib\tCompAuxNum\tCompAuxLib\tPieceRef\tPieceDate\tEcritureLib\tDebit\tCredit\tEcritureLet\tDateLet\tValidDate\tMontantdevise\tIdevise",
  "CA\tCaisse\t1\t20260529\t5115\tCartes bancaires à l'encaissement\t\t\tZ24\t20260529\tCaisse Z24 Carte bancaire\t11,00\t0,00\t\t\t20260530\t\t",
  "CA\tCaisse\t1\t20260529\t70610\tPrestations de services 10 %\t\t\tZ24\t20260529\tCaisse Z24 Prestations de services 10 %\t0,00\t10,00\t\t\t20260530\t\t",
  "CA\tCaisse\t1\t20260529\t4457110\tTVA collectée 10 %\t\t\tZ24\t20260529\tCaisse Z24 TVA collectée 10 %\t0,00\t1,00\t\t\t20260530\t\t",
  "",
].join("\r\n");
