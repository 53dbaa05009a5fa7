import { keepPreviousData, useQueries, type UseQueryResult } from "@tanstack/react-query";
import { mentionLimit, rankMentions, type MentionItem, type MentionType } from "./mentions";
import { useSettled } from "./settled";

export type Suggestion = MentionItem & { type: MentionType };

/** Records of these kinds that fit the words, as the picker ranks them; undefined asks nothing. */
export function useMentionSearch(types: readonly MentionType[], query: string | undefined) {
  const settled = useSettled(query, 120);
  const asked = query === undefined ? undefined : settled;
  return useQueries({
    queries: types.map((type) => ({
      queryKey: [type.plugin, "mentionSearch", type.type, asked?.trim() ?? ""],
      queryFn: () => type.search(asked?.trim() ?? "", mentionLimit),
      enabled: asked !== undefined,
      placeholderData: keepPreviousData,
      staleTime: 10_000,
    })),
    combine: (results: UseQueryResult<MentionItem[]>[]) => ({
      items: rankMentions(
        results.flatMap((result, i) => {
          const type = types[i];
          return type ? (result.data ?? []).map((item): Suggestion => ({ ...item, type })) : [];
        }),
        asked ?? "",
      ),
      pending: asked !== query || results.some((result) => result.isPending),
      failed: results.length > 0 && results.every((result) => result.isError),
    }),
  });
}
