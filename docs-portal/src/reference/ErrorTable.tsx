import Link from "@docusaurus/Link";
import type { ReactNode } from "react";
import styles from "./errors.module.css";
import type { OperationPageData } from "./page-data.ts";

/** Renders the errors of an operation: the status, and the codes with links to their explanation. */
export function ErrorTable({ errors }: Pick<OperationPageData, "errors">): ReactNode {
  return (
    <table className={styles.errors}>
      <thead>
        <tr>
          <th>Status</th>
          <th>Code</th>
          <th>Meaning</th>
        </tr>
      </thead>
      <tbody>
        {errors.map(({ status, code, title }) => (
          <tr key={code}>
            <td>{status}</td>
            <td>
              <Link to={`/docs/errors#${code}`}>
                <code>{code}</code>
              </Link>
            </td>
            <td>{title}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
