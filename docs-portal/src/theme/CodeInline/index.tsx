import { type ComponentProps, Fragment, type ReactNode } from "react";

/** The places inside a token where a line may break: after a separator, and between the words of a camel-case name. */
const breakOpportunity = /(?<=[/_.:=?&,-])(?=\w)|(?<=[a-z])(?=[A-Z])/;

/** The maximum length of a token that stays on one line, so that it fits on a line of a phone. */
const maxShortTokenLength = 26;

/** Renders inline code. A token that is too long for its line breaks between its words, not inside a word. */
export default function CodeInline({ children, ...props }: ComponentProps<"code">): ReactNode {
  if (typeof children !== "string") return <code {...props}>{children}</code>;
  // A URL is not split, because the server of the site replaces the URLs of the API and of the site in the pages.
  const parts = children.includes("://") ? [children] : children.split(breakOpportunity);
  const className = children.length <= maxShortTokenLength ? "short-token" : undefined;
  return (
    <code className={className} {...props}>
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
