import {
  created,
  db,
  ensure,
  field,
  get,
  group,
  guard,
  type Infer,
  type JwtClaims,
  jwt,
  list,
  middleware,
  noContent,
  ok,
  type Parameter,
  post,
  random,
  respond,
  routes,
  SidecarError,
  secret,
  signJwt,
  time,
  use,
} from "@tenon/sdk";
import { hash, verify } from "@tenon/sdk/password";
import { sqlCreate, sqlDelete, sqlRead, sqlUpdate } from "@tenon/sdk/sql";
import * as t from "./schemas.ts";

const json = { "content-type": "application/json" };
const signing = { key: () => secret("JWT_KEY"), algorithms: ["HS256"], scheme: "Token" } as const;
type Claims = { claims: JwtClaims | undefined };
const reader = middleware((_, next, { claims }: Claims) => next({ me: Number(claims?.sub ?? 0) }));
/** Routes for everybody, who may be signed in; `me` is 0 for others. */
const anyone = use(jwt({ ...signing, optional: true }), reader);
/** Routes for users. */
const signedIn = use(jwt(signing), reader);

const user = { user: t.User };
const profile = { profile: t.Profile };
const oneArticle = { article: t.Article };
const slugPath = { path: { slug: field.string() } };

const accountColumns = Object.keys(t.Account.fields) as (keyof typeof t.Account.fields & string)[];

async function userOf(account: Infer<typeof t.Account>): Promise<{ user: Infer<typeof t.User> }> {
  const { id, ...user } = account;
  const options = { key: secret("JWT_KEY"), algorithm: "HS256", expiresIn: "7d" } as const;
  return { user: { ...user, token: await signJwt({ sub: String(id) }, options) } };
}

async function accountOf(filter: object): Promise<Infer<typeof t.Account> | undefined> {
  const statement = sqlRead("users", { select: accountColumns, filter: { ...filter } });
  return (await db.query<Infer<typeof t.Account>>(statement))[0];
}

/** Runs a statement. A name, an address or a title that somebody else has is 422. */
async function unlessTaken<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    const taken = thrown instanceof SidecarError && thrown.sqlstate === "23505";
    guard(!taken, 422, "it is taken", { errors: { body: ["a user with this name or address exists"] } });
    throw thrown;
  }
}

async function profileOf(username: string, me: number): Promise<{ id: number; profile: Infer<typeof t.Profile> }> {
  const found = ensure(await accountOf({ username }), 404, "no such profile");
  const filter = { follower_id: me, followed_id: found.id };
  const rows = await db.query(sqlRead("follows", { select: ["followed_id"], filter }));
  const { id, bio, image } = found;
  return { id, profile: { username, bio, image, following: rows.length > 0 } };
}

/** The columns of an author `u` as the user of parameter `$n` sees them. */
const author = (n: number) => `u.username, u.bio, u.image,
  (SELECT COUNT(*) FROM follows w WHERE w.followed_id = u.id AND w.follower_id = $${n}) AS following`;

/** Conditions and their parameters. */
type Found = { where: string[]; params: Parameter[] };

/** Articles, the newest first. */
async function read(me: number, { where, params }: Found, limit = 1, offset = 0) {
  const n = params.length + 1;
  const rows = await db.query<Infer<typeof t.ArticleRow>>([
    `SELECT a.*, ${author(n)},
      (SELECT COUNT(*) FROM favorites f WHERE f.article_id = a.id) AS favorites,
      (SELECT COUNT(*) FROM favorites f WHERE f.article_id = a.id AND f.user_id = $${n}) AS favorited
    FROM articles a JOIN users u ON u.id = a.author_id ${conditions(where)}
    ORDER BY a.created_at DESC, a.id DESC LIMIT $${n + 1} OFFSET $${n + 2}`,
    [...params, me, limit, offset],
  ]);
  const ids = { article_id: { $in: rows.map(({ id }) => id) } };
  const tags = await db.query<Infer<typeof t.TagRow>>(sqlRead("tags", { filter: ids, order: "tag" }));
  return rows.map((row) => articleOf(row, tags));
}

const conditions = (where: readonly string[]) => (where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`);

function articleOf(
  { id, created_at: createdAt, updated_at: updatedAt, username, bio, image, ...row }: Infer<typeof t.ArticleRow>,
  tags: readonly Infer<typeof t.TagRow>[],
): Infer<typeof t.Article> {
  const { slug, title, description, body, favorites: favoritesCount } = row;
  const tagList = tags.filter((each) => each.article_id === id).map(({ tag }) => tag);
  const [following, favorited] = [row.following > 0, row.favorited > 0];
  const content = { slug, title, description, body, tagList, createdAt, updatedAt };
  return { ...content, favorited, favoritesCount, author: { username, bio, image, following } };
}

async function page(me: number, found: Found, { limit, offset }: Infer<typeof t.Page>) {
  const counting = `SELECT COUNT(*) AS count FROM articles a JOIN users u ON u.id = a.author_id ${conditions(found.where)}`;
  const [counted] = await db.query<Infer<typeof t.Count>>([counting, found.params]);
  return { articles: await read(me, found, limit, offset), articlesCount: counted?.count ?? 0 };
}

async function articleAt(slug: string, me: number) {
  const [article] = await read(me, { where: ["a.slug = $1"], params: [slug] });
  return { article: ensure(article, 404, "no such article") };
}

/** The id of an article, which must be the user's own if `owner` is given. */
async function idOf(slug: string, owner?: number): Promise<number> {
  const statement = sqlRead("articles", { select: ["id", "author_id"], filter: { slug } });
  const [found] = await db.query<Pick<Infer<typeof t.ArticleRow>, "id" | "author_id">>(statement);
  const { id, author_id } = ensure(found, 404, "no such article");
  guard(owner === undefined || author_id === owner, 403, "only its author may change an article");
  return id;
}

const slugOf = (title: string) =>
  [...(title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []), random.uuid().slice(0, 8)].join("-");

/** The user of a request, whose account may be gone. */
const mine = async (me: number) => ensure(await accountOf({ id: me }), 401, "there is no such user");

const users = {
  /** Register. @tag Users */
  register: post("/users", { body: { user: t.NewUser }, response: user, status: 201 }, async ({ body }) => {
    const values = { ...body.user, password: await hash(body.user.password) };
    const create = sqlCreate("users", { ...values, returning: accountColumns });
    const [account] = await unlessTaken(() => db.query<Infer<typeof t.Account>>(create));
    return created("/user", await userOf(ensure(account, 500, "nothing was returned")));
  }),
  /** Sign in. @tag Users */
  login: post("/users/login", { body: { user: t.Login }, response: user }, async ({ body: { user } }) => {
    const statement = sqlRead("users", { select: ["password"], filter: { email: user.email } });
    const [found] = await db.query<Pick<Infer<typeof t.NewUser>, "password">>(statement);
    guard(await verify(user.password, found?.password ?? ""), 401, "the address or the password is wrong");
    return ok(await userOf(ensure(await accountOf({ email: user.email }), 401, "there is no such user")));
  }),
  /** The signed-in user. @tag Users */
  current: signedIn.get("/user", { response: user }, async (_, _req, { me }) => ok(await userOf(await mine(me)))),
  /** Change the signed-in user. @tag Users */
  change: signedIn.put(
    "/user",
    { body: { user: t.UserChanges }, response: user },
    async ({ body: { user } }, _req, { me }) => {
      const { password, ...others } = user;
      const set = { ...others, ...(password !== undefined && { password: await hash(password) }) };
      const update = () => db.execute(sqlUpdate("users", { set, filter: { id: me } }));
      if (Object.keys(set).length > 0) await unlessTaken(update);
      return ok(await userOf(await mine(me)));
    },
  ),
};

const profiles = group(
  "/profiles/{username}",
  {
    /** A profile. */
    get: anyone.get("", { response: profile }, async ({ path }, _req, { me }) =>
      ok({ profile: (await profileOf(path.username, me)).profile }),
    ),
    /** Follow a user. */
    follow: signedIn.post("/follow", { response: profile }, async ({ path }, _req, { me }) => {
      const { id, profile } = await profileOf(path.username, me);
      const onConflict = { columns: ["follower_id", "followed_id"], nothing: true } as const;
      await db.execute(sqlCreate("follows", { follower_id: me, followed_id: id, onConflict }));
      return ok({ profile: { ...profile, following: true } });
    }),
    /** Follow a user no longer. */
    unfollow: signedIn.del("/follow", { response: profile }, async ({ path }, _req, { me }) => {
      const { id, profile } = await profileOf(path.username, me);
      await db.execute(sqlDelete("follows", { filter: { follower_id: me, followed_id: id } }));
      return ok({ profile: { ...profile, following: false } });
    }),
  },
  { path: { username: field.string() }, tags: ["Profiles"] },
);

const articles = {
  /** Articles, the newest first. @tag Articles */
  list: anyone.get("", { query: t.Search, response: t.Articles }, async ({ query }, _req, { me }) => {
    const { tag, author, favorited } = query;
    const where: string[] = [];
    const params: Parameter[] = [];
    const add = (condition: string, value: string | undefined) => {
      if (value !== undefined) where.push(condition.replace("?", `$${params.push(value)}`));
    };
    add("EXISTS (SELECT 1 FROM tags t WHERE t.article_id = a.id AND t.tag = ?)", tag);
    add("u.username = ?", author);
    const fans = "SELECT f.article_id FROM favorites f JOIN users fan ON fan.id = f.user_id WHERE fan.username = ?";
    add(`a.id IN (${fans})`, favorited);
    return ok(await page(me, { where, params }, query));
  }),
  /** Articles of the users that the signed-in user follows. @tag Articles */
  feed: signedIn.get("/feed", { query: t.Page, response: t.Articles }, async ({ query }, _req, { me }) => {
    const followed = "a.author_id IN (SELECT followed_id FROM follows WHERE follower_id = $1)";
    return ok(await page(me, { where: [followed], params: [me] }, query));
  }),
  /** Publish an article. @tag Articles */
  create: signedIn.post(
    "",
    { body: { article: t.NewArticle }, response: oneArticle, status: 201 },
    async ({ body: { article } }, _req, { me }) => {
      const { tagList, ...values } = article;
      const [slug, now] = [slugOf(article.title), time.nowIso()];
      await db.transaction(async (tx) => {
        const given = { ...values, slug, author_id: me, created_at: now, updated_at: now };
        const [{ id } = { id: 0 }] = await tx.query<Pick<Infer<typeof t.ArticleRow>, "id">>(
          sqlCreate("articles", { ...given, returning: ["id"] }),
        );
        const rows = [...new Set(tagList)].map((tag) => ({ article_id: id, tag }));
        if (rows.length > 0) await tx.execute(sqlCreate("tags", rows));
      });
      return created(`/articles/${slug}`, await articleAt(slug, me));
    },
  ),
};

const article = group(
  "/{slug}",
  {
    /** An article. */
    get: anyone.get("", { response: oneArticle }, async ({ path }, _req, { me }) => ok(await articleAt(path.slug, me))),
    /** Change an article. */
    change: signedIn.put(
      "",
      { body: { article: t.ArticleChanges }, response: oneArticle },
      async ({ path, body }, _req, { me }) => {
        const id = await idOf(path.slug, me);
        const slug = body.article.title === undefined ? path.slug : slugOf(body.article.title);
        const set = { ...body.article, slug, updated_at: time.nowIso() };
        await db.execute(sqlUpdate("articles", { set, filter: { id } }));
        return ok(await articleAt(slug, me));
      },
    ),
    /** Delete an article. */
    remove: signedIn.del("", { status: 204 }, async ({ path }, _req, { me }) => {
      await db.execute(sqlDelete("articles", { filter: { id: await idOf(path.slug, me) } }));
      return noContent();
    }),
    /** Mark an article as a favorite. */
    favor: signedIn.post("/favorite", { response: oneArticle }, async ({ path }, _req, { me }) => {
      const onConflict = { columns: ["user_id", "article_id"], nothing: true } as const;
      await db.execute(sqlCreate("favorites", { user_id: me, article_id: await idOf(path.slug), onConflict }));
      return ok(await articleAt(path.slug, me));
    }),
    /** Unmark an article. */
    unfavor: signedIn.del("/favorite", { response: oneArticle }, async ({ path }, _req, { me }) => {
      await db.execute(sqlDelete("favorites", { filter: { user_id: me, article_id: await idOf(path.slug) } }));
      return ok(await articleAt(path.slug, me));
    }),
  },
  { ...slugPath, tags: ["Articles"] },
);

/** Comments, the newest first. */
async function commentsOf(me: number, condition: string, value: number): Promise<Infer<typeof t.Comment>[]> {
  const rows = await db.query<Infer<typeof t.CommentRow>>([
    `SELECT c.*, ${author(2)} FROM comments c JOIN users u ON u.id = c.author_id WHERE ${condition} = $1 ORDER BY c.id DESC`,
    [value, me],
  ]);
  return rows.map(({ id, body, created_at: createdAt, updated_at: updatedAt, username, bio, image, following }) => {
    return { id, body, createdAt, updatedAt, author: { username, bio, image, following: following > 0 } };
  });
}

const comments = group(
  "/{slug}/comments",
  {
    /** The comments of an article. */
    list: anyone.get("", { response: { comments: list(t.Comment) } }, async ({ path }, _req, { me }) =>
      ok({ comments: await commentsOf(me, "c.article_id", await idOf(path.slug)) }),
    ),
    /** Comment an article. */
    create: signedIn.post(
      "",
      { body: { comment: t.NewComment }, response: { comment: t.Comment } },
      async ({ path, body }, _req, { me }) => {
        const now = time.nowIso();
        const values = { body: body.comment.body, article_id: await idOf(path.slug), author_id: me };
        const create = sqlCreate("comments", { ...values, created_at: now, updated_at: now, returning: ["id"] });
        const [row] = await db.query<Pick<Infer<typeof t.CommentRow>, "id">>(create);
        const [comment] = await commentsOf(me, "c.id", row?.id ?? 0);
        return ok({ comment: ensure(comment, 500, "nothing was returned") });
      },
    ),
    /** Delete a comment. */
    remove: signedIn.del("/{id}", { path: { id: field.u32() }, status: 204 }, async ({ path }, _req, { me }) => {
      const filter = { id: path.id, article_id: await idOf(path.slug), author_id: me };
      guard((await db.execute(sqlDelete("comments", { filter }))) > 0, 404, "there is no such comment of yours");
      return noContent();
    }),
  },
  { ...slugPath, tags: ["Comments"] },
);

export default routes(
  {
    users: group("", users),
    profiles,
    articles: group("/articles", { ...articles, article, comments }),
    /** All tags. */
    tags: get("/tags", { response: { tags: list(field.string()) } }, async () => {
      const statement = ["SELECT DISTINCT tag FROM tags ORDER BY tag", []] as const;
      const rows = await db.query<Pick<Infer<typeof t.TagRow>, "tag">>(statement);
      return ok({ tags: rows.map(({ tag }) => tag) });
    }),
  },
  {
    prefix: "/api",
    onInvalid: ({ errors = [] }) => {
      const named = errors.map(({ pointer, detail }) => [pointer.split("/").at(-1) ?? "body", [detail]] as const);
      return respond(422, { headers: json, body: JSON.stringify({ errors: Object.fromEntries(named) }) });
    },
  },
);
