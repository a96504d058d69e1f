import { formatDecimalAmount } from "@pragma/contracts/currency";
import type { DeclarantSettings } from "@pragma/contracts/e-reporting-declarant";
import type { EReportBlocks } from "./e-report.ts";

/** A file of flux 10 as the external specifications 3.2 name its elements: `ereporting.xsd`. All values are texts. */
export interface EReportFile {
  ReportDocument: {
    Id: string;
    IssueDateTime: { DateTimeString: string };
    TypeCode: string;
    Sender: EReportParty;
    Issuer: EReportParty;
  };
  TransactionsReport?: { ReportPeriod: EReportFilePeriod; Transactions: EReportFileTransactions[] };
  PaymentsReport?: { ReportPeriod: EReportFilePeriod; Transactions: { Payment: EReportFilePayment }[] };
}

interface EReportParty {
  Id: { "@schemeId": string; "#": string };
  Name: string;
  RoleCode: string;
}

export interface EReportFilePeriod {
  StartDate: string;
  EndDate: string;
}

export interface EReportFileTransactions {
  Date: string;
  TransactionsCurrency: string;
  TaxDueDateTypeCode?: string;
  CategoryCode: string;
  TaxExclusiveAmount: string;
  TaxTotal: string;
  TransactionsCount: string;
  TaxSubtotal: { TaxPercent: string; TaxableAmount: string; TaxTotal: string }[];
}

export interface EReportFilePayment {
  Date: string;
  SubTotals: { TaxPercent: string; CurrencyCode: string; Amount: string }[];
}

/** What a file is made from. */
export interface EReportContent {
  /** Unique by period and SIREN (rule G8.05). */
  id: string;
  /** Initial, or rectifying: it replaces all that was sent for the period. */
  type: "IN" | "RE";
  /** When the file is created, in French local time: YYYY-MM-DDTHH:MM:SS. */
  createdAt: string;
  siren: string;
  settings: Pick<DeclarantSettings, "companyName" | "platform">;
  /** The first and the last day. */
  period: { first: string; last: string };
  blocks: EReportBlocks;
}

/** The code of VAT on debits (rule G1.44), which concerns services. */
export const vatOnDebitsCode = "5";

export function buildEReportFile(content: EReportContent): EReportFile {
  const { id, type, createdAt, siren, settings, blocks } = content;
  const ReportPeriod = { StartDate: toFileDate(content.period.first), EndDate: toFileDate(content.period.last) };
  return {
    ReportDocument: {
      Id: id,
      IssueDateTime: { DateTimeString: createdAt.replaceAll(/\D/g, "") },
      TypeCode: type,
      Sender: {
        Id: { "@schemeId": "0238", "#": settings.platform.number },
        Name: settings.platform.name,
        RoleCode: "WK",
      },
      Issuer: { Id: { "@schemeId": "0002", "#": siren }, Name: settings.companyName, RoleCode: "SE" },
    },
    ...("transactions" in blocks
      ? {
          TransactionsReport: {
            ReportPeriod,
            Transactions: blocks.transactions.map((block) => ({
              Date: toFileDate(block.day),
              TransactionsCurrency: block.currency,
              ...(block.isVatOnDebits && { TaxDueDateTypeCode: vatOnDebitsCode }),
              CategoryCode: block.category,
              TaxExclusiveAmount: formatDecimalAmount(block.taxExclusiveAmount, block.currency),
              TaxTotal: formatDecimalAmount(block.taxTotal, block.currency),
              TransactionsCount: String(block.transactionsCount),
              TaxSubtotal: block.taxSubtotals.map(({ taxRate, taxableAmount, taxTotal }) => ({
                TaxPercent: toPercent(taxRate),
                TaxableAmount: formatDecimalAmount(taxableAmount, block.currency),
                TaxTotal: formatDecimalAmount(taxTotal, block.currency),
              })),
            })),
          },
        }
      : {
          PaymentsReport: {
            ReportPeriod,
            Transactions: blocks.payments.map(({ day, currency, subtotals }) => ({
              Payment: {
                Date: toFileDate(day),
                SubTotals: subtotals.map(({ taxRate, amount }) => ({
                  TaxPercent: toPercent(taxRate),
                  CurrencyCode: currency,
                  Amount: formatDecimalAmount(amount, currency),
                })),
              },
            })),
          },
        }),
  };
}

/** YYYYMMDD. */
const toFileDate = (day: string) => day.replaceAll("-", "");

/** A rate in hundredths of a percent as a decimal text without zeros at its end: 550 becomes 5.5. */
const toPercent = (basisPoints: number) => formatDecimalAmount(basisPoints, "EUR").replace(/\.?0+$/, "");
