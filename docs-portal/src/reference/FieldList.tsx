import { Fragment, type ReactNode } from "react";
import styles from "./fields.module.css";
import { Html } from "./Html.tsx";
import type { FieldContentData, FieldData } from "./page-data.ts";

/** An object with more fields than this is folded, so that the fields beside it remain visible. */
const maxUnfoldedSiblings = 6;

/** The content of links whose symbol the stylesheet adds, as in the headings of the framework. */
const zeroWidthSpace = "\u200B";

/** Renders fields with their types and descriptions. The fields of nested objects are folded. */
export function FieldList({ fields, depth = 0 }: { fields: FieldData[]; depth?: number }): ReactNode {
  const isOpen = depth === 0 && fields.length <= maxUnfoldedSiblings;
  return (
    <ul className={styles.fields}>
      {fields.map((field) => (
        <li key={field.id} id={field.id} className={styles.field}>
          <div className={styles.head}>
            <span className={styles.name}>
              <BreakableName name={field.name} />
            </span>
            <span className={styles.type}>{field.type}</span>
            {field.required && <span className={styles.required}>required</span>}
            <a className="hash-link" href={`#${field.id}`} aria-label={`Link to ${field.name}`}>
              {zeroWidthSpace}
            </a>
          </div>
          {field.html !== undefined && <Html className={styles.description} html={field.html} />}
          {field.values && <FieldValues values={field.values} />}
          {field.limits && <Html className={styles.limits} html={field.limits.join(" · ")} />}
          <FieldContent content={field} owner={field.name} depth={depth + 1} isOpen={isOpen} />
        </li>
      ))}
    </ul>
  );
}

interface ContentProps {
  content: FieldContentData;
  /** Name of the field that contains the fields. Absent for a whole body, whose fields are not folded. */
  owner?: string;
  depth?: number;
  isOpen?: boolean;
}

/** Renders the fields of an object, its alternatives, or a link to the field with the same fields. */
export function FieldContent({ content, owner, depth = 0, isOpen = true }: ContentProps): ReactNode {
  const { fields, variants, sameAs } = content;
  if (sameAs !== undefined)
    return (
      <p className={styles.same}>
        Same fields as <a href={`#${sameAs}`}>{readableAnchor(sameAs)}</a>
      </p>
    );
  if (variants !== undefined)
    return variants.map((variant, index) => (
      <details key={variant.label} className={styles.nested} open={isOpen && index === 0}>
        <summary>
          Alternative {index + 1}: {variant.label}
        </summary>
        <FieldList fields={variant.fields} depth={depth + 1} />
      </details>
    ));
  if (fields === undefined) return null;
  if (owner === undefined) return <FieldList fields={fields} depth={depth} />;
  return (
    <details className={styles.nested} open={isOpen}>
      <summary>
        {fields.length === 1 ? "1 field" : `${fields.length} fields`} of <code>{owner}</code>
      </summary>
      <FieldList fields={fields} depth={depth} />
    </details>
  );
}

export function FieldValues({ values }: { values: string[] }): ReactNode {
  return (
    <div className={styles.values}>
      <span>{values.length === 1 ? "Value" : "Values"}</span>{" "}
      {values.map((value) => (
        <Fragment key={value}>
          <code>{value}</code>{" "}
        </Fragment>
      ))}
    </div>
  );
}

/** Renders a name that can break only before a capital letter or after a separator. */
export function BreakableName({ name }: { name: string }): ReactNode {
  const parts = name.split(/(?<=[._-])|(?<=[a-z\d])(?=[A-Z])/);
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name never change
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** Returns the path of a field without the part of the page: `orderList` for `body.orderList`. */
function readableAnchor(anchor: string): string {
  const [place = "", ...path] = anchor.split(".");
  if (path.length > 0) return path.join(".");
  return place === "body" ? "the request body" : `the ${place.replace("response-", "")} response`;
}
