import { ThemedComponent } from "@docusaurus/theme-common";
import type { CSSProperties, ReactNode } from "react";
import sizes from "../../diagrams/sizes.json";
import styles from "./diagram.module.css";

interface DiagramProps {
  /** The name of the source file in `diagrams`, without its extension. */
  name: keyof typeof sizes;
  /** A description of the diagram for screen readers. */
  alt: string;
}

/** The windows in which the text is so narrow that the labels of the wide drawing would be too small to read. */
const narrowWindows = "(max-width: 960px), (min-width: 997px) and (max-width: 1250px)";

/**
 * Renders a diagram in the color mode of the page, in the drawing that fits the window. The sizes of the images are set,
 * so that the text below them does not move when they load.
 */
export function Diagram({ name, alt }: DiagramProps): ReactNode {
  const { wide, narrow } = sizes[name];
  const widths = { "--wide": `${wide.width}px`, "--narrow": `${narrow.width}px` } as CSSProperties;
  return (
    <figure className={styles.diagram} style={widths}>
      <ThemedComponent>
        {({ theme, className }) => (
          <picture key={theme} className={className}>
            <source
              media={narrowWindows}
              srcSet={`/diagrams/${name}.narrow.${theme}.svg`}
              width={narrow.width}
              height={narrow.height}
            />
            <img
              alt={alt}
              src={`/diagrams/${name}.${theme}.svg`}
              width={wide.width}
              height={wide.height}
              loading="lazy"
            />
          </picture>
        )}
      </ThemedComponent>
    </figure>
  );
}
