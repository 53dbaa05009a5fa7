import { useQueries, type UseQueryResult } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useMemo, type ReactNode } from "react";
import { keyOf, mentionsIn, type MentionItem, type Mentioned, type MentionRef, type MentionType } from "./mentions";

const Types = createContext<readonly MentionType[]>([]);
const Scope = createContext<(ref: MentionRef) => Mentioned | undefined>(() => undefined);

/** Makes the kinds of records known that the present person may read. */
export const MentionTypes = Types.Provider;

export function useMentionTypes(): readonly MentionType[] {
  return useContext(Types);
}

/** What the reader may open of the mentions inside a MentionScope; undefined for everything doubtful. */
export function useMentioned(): (ref: MentionRef) => Mentioned | undefined {
  return useContext(Scope);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const batch = 100;

/**
 * Asks each owner once which of the records mentioned in these texts the reader
 * may open, and links those in the texts below. While an answer is missing, or
 * when it fails or says no, a mention stays its plain label.
 */
export function MentionScope({ texts, children }: { texts: readonly (string | null | undefined)[]; children: ReactNode }) {
  const types = useMentionTypes();
  const wanted = useMemo(() => {
    const refs = mentionsIn(texts);
    return types.map((type) => ({
      type,
      // Sorted, so that the order of updates does not ask again.
      ids: refs.filter((ref) => ref.type === type.type && uuid.test(ref.id)).map((ref) => ref.id).sort(),
    }));
  }, [types, texts]);
  const combine = useCallback(
    (results: UseQueryResult<MentionItem[]>[]) => {
      const found = new Map<string, Mentioned>();
      results.forEach((result, i) => {
        const type = wanted[i]?.type;
        // An error after an earlier answer counts as no answer.
        if (!type || result.isError) return;
        for (const item of result.data ?? []) {
          const ref = { type: type.type, id: item.id };
          found.set(keyOf(ref), { ...ref, title: item.title, active: item.active !== false, noun: type.noun, href: type.href(item.id) });
        }
      });
      return found;
    },
    [wanted],
  );
  const found = useQueries({
    queries: wanted.map(({ type, ids }) => ({
      queryKey: [type.plugin, "mentions", type.type, ids],
      queryFn: async () => (await Promise.all(Array.from({ length: Math.ceil(ids.length / batch) }, (_, i) => type.resolve(ids.slice(i * batch, (i + 1) * batch))))).flat(),
      enabled: ids.length > 0,
    })),
    combine,
  });
  const lookup = useCallback((ref: MentionRef) => found.get(keyOf(ref)), [found]);
  return <Scope.Provider value={lookup}>{children}</Scope.Provider>;
}
