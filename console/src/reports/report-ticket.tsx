import type { ApiSchemaTypes } from "@pragma/client";
import { type ReactNode, useId } from "react";
import type { Day } from "../days/day-state.tsx";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { countCash } from "./cash-count.ts";

export type Report = ApiSchemaTypes["ReportV2"];

/** The report in the form of the ticket that the point of sale prints when it closes. Print styles print only it. */
export function ReportTicket({ report, day }: { report: Report; day: Day | undefined }) {
  const { money, number, dateTime, time, rate, difference } = useFormats();
  const cash = countCash(report, day);
  const sumOf = (amounts: number[]) => amounts.reduce((sum, amount) => sum + amount, 0);
  const paid = sumOf(report.reportPayments.map(({ paymentAmount }) => paymentAmount));
  // A clerk has only recorded payments of the type `payment`, for orders of a shift. Charges to a customer account have
  // another type, but are declared with a method, which can have both.
  const paidOtherwise = paid - sumOf(report.reportClerksShift.map(({ paymentsOwner }) => paymentsOwner));
  const withoutTax = sumOf(report.reportTaxes.map(({ taxableAmount }) => taxableAmount));
  const address = [report.address1, report.address2, [report.zipCode, report.city].filter(Boolean).join(" ")].filter(
    Boolean,
  );
  return (
    <article className="ticket" aria-label={text.ticket.label(report.reportNumber)}>
      <header className="ticket-header">
        <strong className="ticket-name">{report.establishmentName || report.companyName}</strong>
        {report.companyName && report.companyName !== report.establishmentName && <span>{report.companyName}</span>}
        {address.map((line) => (
          <span key={line}>{line}</span>
        ))}
        {report.siretCode && <span>{text.ticket.siret(report.siretCode)}</span>}
        {report.tvaCode && <span>{text.ticket.vatNumber(report.tvaCode)}</span>}
        {report.nafCode && <span>{text.ticket.naf(report.nafCode)}</span>}
        {report.phoneNumber && <span>{report.phoneNumber}</span>}
      </header>
      <div className="ticket-title">
        <strong>{text.ticket.title}</strong>
        <span>{text.ticket.subtitle}</span>
        <strong>{text.ticket.number(report.reportNumber)}</strong>
      </div>
      <Lines
        lines={[
          [text.ticket.opened, dateTime(report.startedAt)],
          [text.ticket.closed, dateTime(report.finalizedAt)],
          [text.ticket.closedBy, report.clerkName],
          [text.ticket.device, report.deviceName],
        ]}
      />
      <Lines
        lines={[
          [text.ticket.orders, number(report.orderCount)],
          [text.ticket.guests, number(report.guestsNumber)],
          report.orderCount > 0 && [text.ticket.averageOrder, money(Math.round(report.totalSales / report.orderCount))],
        ]}
      />
      <Lines
        isTotal
        lines={[
          [text.ticket.totalSales, money(report.totalSales)],
          [text.ticket.withoutTax, money(withoutTax)],
        ]}
      />
      <Block title={text.ticket.taxes}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text.ticket.rate}</th>
              <th scope="col">{text.ticket.net}</th>
              <th scope="col">{text.ticket.tax}</th>
            </tr>
          </thead>
          <tbody>
            {report.reportTaxes.map(({ taxName, taxRate, taxableAmount, taxAmount, taxCatalogId }) => (
              <tr key={`${taxCatalogId} ${taxRate}`}>
                <th scope="row">{taxName ?? rate(taxRate)}</th>
                <td>{money(taxableAmount)}</td>
                <td>{money(taxAmount)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Block>
      <Block title={text.ticket.payments}>
        <Lines
          lines={[
            ...report.reportPayments.map(
              (payment): Line => [
                text.payments.method(payment.paymentName, payment.paymentMode),
                money(payment.paymentAmount),
              ],
            ),
            [text.ticket.total, money(paid)],
          ]}
        />
      </Block>
      <Block title={text.ticket.cash}>
        <Lines
          lines={[
            [text.ticket.initialCash, money(report.initialCashBalance)],
            [text.ticket.cashPayments, money(cash.payments)],
            cash.tips !== 0 && [text.ticket.cashTips, money(cash.tips)],
            cash.movements !== 0 && [text.ticket.cashMovements, money(cash.movements)],
            cash.checked !== null && cash.checked.change !== 0 && [text.ticket.cashChange, money(-cash.checked.change)],
            cash.checked !== null && [text.ticket.expectedCash, money(cash.checked.expected)],
            [text.ticket.finalCash, money(report.finalCashBalance)],
            cash.checked !== null && [text.ticket.cashDifference, difference(cash.checked.difference)],
          ]}
        />
      </Block>
      {report.reportEntries.length > 0 && (
        <Block title={text.ticket.movements}>
          <Lines
            lines={report.reportEntries.map(
              (entry): Line => [
                [text.reports.movementTypes[entry.entryType], entry.entryName].filter(Boolean).join(": "),
                money(entry.entryAmount),
              ],
            )}
          />
        </Block>
      )}
      {report.reportDiscounts.length > 0 && (
        <Block title={text.ticket.discounts}>
          <Lines
            lines={report.reportDiscounts.map(
              ({ quantity, discountName, gifted, discountValue }): Line => [
                text.ticket.quantity(
                  number(quantity),
                  discountName ?? (gifted ? text.ticket.gift : text.ticket.discount),
                ),
                money(discountValue),
              ],
            )}
          />
        </Block>
      )}
      {report.reportCancellations.length > 0 && (
        <Block title={text.ticket.cancellations}>
          <Lines
            lines={report.reportCancellations.map(
              ({ quantity, name, afterFinalization, amount }): Line => [
                `${text.ticket.quantity(number(quantity), name || text.ticket.noReason)}${afterFinalization ? ` (${text.ticket.afterBill})` : ""}`,
                money(amount),
              ],
            )}
          />
        </Block>
      )}
      {report.reportRooms.length > 0 && (
        <Block title={text.ticket.rooms}>
          <Lines
            lines={report.reportRooms.map(
              ({ name, type, total }): Line => [
                name ?? (type === null ? "–" : text.reports.roomTypeOf(type)),
                money(total),
              ],
            )}
          />
        </Block>
      )}
      <Block title={text.ticket.products}>
        <Lines
          lines={sumByCategory(report).map(
            ({ category, quantity, sales }): Line => [text.ticket.quantity(number(quantity), category), money(sales)],
          )}
        />
      </Block>
      {report.reportClerksShift.length > 0 && (
        <Block title={text.ticket.clerks}>
          <Lines
            lines={[
              ...report.reportClerksShift.map(
                ({ name, id, clockInDate, orderCount, paymentsOwner }): Line => [
                  text.ticket.clerk(name ?? id, clockInDate && time(clockInDate), text.orders.count(orderCount)),
                  money(paymentsOwner),
                ],
              ),
              paidOtherwise !== 0 && [text.ticket.paidOtherwise, money(paidOtherwise)],
              [text.ticket.total, money(paid)],
            ]}
          />
          {paidOtherwise !== 0 && <p className="ticket-hint">{text.ticket.paidOtherwiseHint}</p>}
        </Block>
      )}
      {report.note && <p className="ticket-note">{report.note}</p>}
      <footer className="ticket-footer">{report.customFooter && <p>{report.customFooter}</p>}</footer>
    </article>
  );
}

type Line = readonly [name: string, value: string];

const Lines = ({ lines, isTotal = false }: { lines: readonly (Line | false)[]; isTotal?: boolean }) => (
  <dl className={isTotal ? "ticket-lines ticket-total" : "ticket-lines"}>
    {lines.map((line, index) =>
      line !== false && line[1] !== "" ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines of a ticket can be equal, and their sequence does not change.
        <div key={index}>
          <dt>{line[0]}</dt>
          <dd>{line[1]}</dd>
        </div>
      ) : null,
    )}
  </dl>
);

function Block({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className="ticket-block" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface CategorySales {
  category: string;
  quantity: number;
  sales: number;
}

/** Sums up products by category, with the highest sales first, as tickets do: single products would fill meters of paper. */
function sumByCategory({ reportProducts }: Report): CategorySales[] {
  const sums = new Map<string, CategorySales>();
  for (const { category, productQuantity, productSales } of reportProducts) {
    const name = category ?? text.ticket.noCategory;
    const { quantity, sales } = sums.get(name) ?? { quantity: 0, sales: 0 };
    sums.set(name, { category: name, quantity: quantity + productQuantity, sales: sales + productSales });
  }
  return [...sums.values()].sort((one, other) => other.sales - one.sales);
}
