import { extend, field, list, omit, partial, pick, Query, Type } from "@tenon/sdk";

const text = { min: 1, max: 10_000 };
const time = { format: "date-time" } as const;

/** The columns of `users` that their owner sees. */
export const Account = Type("Account", {
  id: field.u32(),
  email: field.string(),
  username: field.string(),
  bio: field.string().nullable(),
  image: field.string().nullable(),
});
export const User = extend(omit(Account, ["id"]), "User", { token: field.string() });
export const NewUser = Type("NewUser", {
  username: field.string({ min: 1, max: 50 }),
  email: field.string({ format: "email" }),
  password: field.string({ min: 8, max: 200 }),
});
export const Login = Type("Login", { email: field.string(), password: field.string({ max: 200 }) });
export const UserChanges = extend(partial(NewUser), "UserChanges", {
  bio: field.string({ max: 1000 }).nullish(),
  image: field.string({ max: 1000 }).nullish(),
});

const Author = pick(Account, ["username", "bio", "image"], "Author");
export const Profile = extend(Author, "Profile", { following: field.bool() });

export const NewArticle = Type("NewArticle", {
  title: field.string({ min: 1, max: 200 }),
  description: field.string(text),
  body: field.string(text),
  tagList: list(field.string({ min: 1, max: 50 }), { max: 20, default: [] }),
});
export const ArticleChanges = partial(omit(NewArticle, ["tagList"]), "ArticleChanges");
export const Article = extend(NewArticle, "Article", {
  slug: field.string(),
  tagList: list(field.string()),
  createdAt: field.string(time),
  updatedAt: field.string(time),
  favorited: field.bool(),
  favoritesCount: field.u32(),
  author: Profile,
});
export const Articles = Type("Articles", { articles: list(Article), articlesCount: field.u32() });

export const NewComment = Type("NewComment", { body: field.string(text) });
export const Comment = extend(NewComment, "Comment", {
  id: field.u32(),
  createdAt: field.string(time),
  updatedAt: field.string(time),
  author: Profile,
});

const page = { limit: field.u32({ default: 20, max: 100 }), offset: field.u32({ default: 0 }) };
export const Page = Query("Page", page);
export const Search = Query("Search", {
  tag: field.string().optional(),
  author: field.string().optional(),
  favorited: field.string().optional(),
  ...page,
});

/** The columns of a text with its author, as a reader sees them. */
export const CommentRow = extend(Author, "CommentRow", {
  id: field.u32(),
  body: field.string(),
  created_at: field.string(),
  updated_at: field.string(),
  following: field.u32(),
});
export const ArticleRow = extend(CommentRow, "ArticleRow", {
  slug: field.string(),
  title: field.string(),
  description: field.string(),
  author_id: field.u32(),
  favorited: field.u32(),
  favorites: field.u32(),
});
export const TagRow = Type("TagRow", { article_id: field.u32(), tag: field.string() });
export const Count = Type("Count", { count: field.u32() });
