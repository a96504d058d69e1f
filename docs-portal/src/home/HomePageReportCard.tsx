import Link from "@docusaurus/Link";
import homePageDay from "@site/.generated/home-page-day.json";
import type { ReactNode } from "react";
import { formatEuroAmount } from "../money/format-amount.ts";
import { AmountBarChart } from "./AmountBarChart.tsx";
import { HomePageHourlySalesChart } from "./HomePageHourlySalesChart.tsx";
import styles from "./report.module.css";
import { sumAmountsByName, sumSalesByHour } from "./sums.ts";

const { report, sales, unpaidRefunds } = homePageDay;
const timeZone = "Europe/Paris";
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone }).format(new Date(report.startedAt));
const hours = sumSalesByHour(sales, timeZone);
const categories = sumAmountsByName(
  report.reportProducts.map(({ category, productSales }) => ({ name: category ?? "Other", amount: productSales })),
);
const taxes = report.reportTaxes.toSorted((one, other) => one.taxRate - other.taxRate);
const payments = sumAmountsByName(
  report.reportPayments.map(({ paymentName, paymentAmount }) => ({
    name: paymentName ?? "Other",
    amount: paymentAmount,
  })),
);
const declaredTotal = payments.reduce((sum, { amount }) => sum + amount, 0);

/** Renders the end-of-day report of a simulated day at the demo location. */
export function HomePageReportCard(): ReactNode {
  return (
    <article className={styles.report} aria-label="Example report">
      <header className={styles.header}>
        <div>
          <h3>{report.establishmentName}</h3>
          <p>
            {day}, report {report.reportNumber}
          </p>
        </div>
        <dl className={styles.figures}>
          <Figure name="Sales" value={formatEuroAmount(report.totalSales)} />
          <Figure name="Orders" value={report.orderCount} />
          <Figure name="Guests" value={report.guestsNumber} />
          <Figure name="Per guest" value={formatEuroAmount(Math.round(report.totalSales / report.guestsNumber))} />
        </dl>
      </header>
      <section className={styles.wide}>
        <h4>Sales by hour</h4>
        <HomePageHourlySalesChart hours={hours} />
      </section>
      <section>
        <h4>By category</h4>
        <AmountBarChart of={categories} />
        <h4 className={styles.below}>VAT</h4>
        <table className={styles.taxes}>
          <thead>
            <tr>
              <th scope="col">Rate</th>
              <th scope="col">Sales excluding VAT</th>
              <th scope="col">VAT</th>
            </tr>
          </thead>
          <tbody>
            {taxes.map(({ taxRate, taxName, taxableAmount, taxAmount }) => (
              <tr key={`${taxName} ${taxRate}`}>
                <th scope="row">{taxRate / 100}%</th>
                <td>{formatEuroAmount(taxableAmount)}</td>
                <td>{formatEuroAmount(taxAmount)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section>
        <h4>Declared payments</h4>
        <AmountBarChart of={payments} />
      </section>
      <p className={styles.difference}>
        The declared payments add up to {formatEuroAmount(declaredTotal)}, which is {formatEuroAmount(unpaidRefunds)}{" "}
        more than the sales: a refund of this amount reduced the sales, but was not paid out.{" "}
        <Link to="/docs/totals-by-payment-method#sales-and-payments">Why sales and payments differ</Link>
      </p>
    </article>
  );
}

function Figure({ name, value }: { name: string; value: string | number }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
