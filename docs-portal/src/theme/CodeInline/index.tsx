import { type ComponentProps, Fragment, type ReactNode } from "react";

/**
 * The places inside a token where a line may break: after a separator, and between the words of a camel-case name. The
 * parts of a number, a time or the name of a header stay together.
 */
const breakOpportunity = /(?<=[/_.:=?&,])(?=[A-Za-z_])|(?<=[a-z])(?=[A-Z])/;

/** The maximum length of a token that stays on one line, so that it fits on a line of a phone. */
const maxShortTokenLength = 26;
/** The maximum length of a token that stays on one line on a desktop. */
const maxMediumTokenLength = 45;

/** Renders inline code. A token that is too long for its line breaks between its words, not inside a word. */
export default function CodeInline({ children, ...props }: ComponentProps<"code">): ReactNode {
  if (typeof children !== "string") return <code {...props}>{children}</code>;
  // A URL is not split, because the server of the site replaces the URLs of the API and of the site in the pages.
  const parts = children.includes("://") ? [children] : children.split(breakOpportunity);
  return (
    <code className={lengthClass(children.length)} {...props}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a token never change their order
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </code>
  );
}

function lengthClass(length: number) {
  if (length <= maxShortTokenLength) return "short-token";
  return length <= maxMediumTokenLength ? "medium-token" : undefined;
}
