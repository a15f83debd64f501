/* Names the tables that a compiled statement opens. SQLite's authorizer misses some: those of NATURAL JOIN and USING. */

HOST("opens") void host_opens(const char *schema, const char *table);

static void report(sqlite3 *db, int schema, const char *table) {
  host_opens(schema < db->nDb ? db->aDb[schema].zDbSName : "", table);
}

/* Reports the table of a root page, or of an index's; an empty name when there is none. */
static void report_root(sqlite3 *db, int schema, int root) {
  HashElem *each;
  if (schema < 0 || schema >= db->nDb) return report(db, 0, "");
  if (root == SCHEMA_ROOT) return report(db, schema, LEGACY_SCHEMA_TABLE);
  for (each = sqliteHashFirst(&db->aDb[schema].pSchema->tblHash); each; each = sqliteHashNext(each)) {
    Table *table = sqliteHashData(each);
    Index *index;
    if (!IsVirtual(table) && table->tnum == (Pgno)root) return report(db, schema, table->zName);
    for (index = table->pIndex; index; index = index->pNext) {
      if (index->tnum == (Pgno)root) return report(db, schema, table->zName);
    }
  }
  report(db, schema, "");
}

/* Reports the virtual table of a connection to one. One that needs no CREATE has the name of its module, and no schema. */
static void report_virtual(sqlite3 *db, VTable *opened) {
  int schema;
  HashElem *each;
  for (schema = 0; schema < db->nDb; schema++) {
    for (each = sqliteHashFirst(&db->aDb[schema].pSchema->tblHash); each; each = sqliteHashNext(each)) {
      Table *table = sqliteHashData(each);
      if (IsVirtual(table) && sqlite3GetVTable(db, table) == opened) return report(db, schema, table->zName);
    }
  }
  host_opens("", opened->pMod->zName);
}

static void report_operations(sqlite3 *db, const VdbeOp *operations, int count) {
  int at;
  for (at = 0; at < count; at++) {
    const VdbeOp *each = &operations[at];
    switch (each->opcode) {
      case OP_OpenRead:
      case OP_OpenWrite:
      case OP_ReopenIdx:
        /* A root page in a register is that of a table which is being made. */
        report_root(db, each->p3, each->p5 & OPFLAG_P2ISREG ? -1 : each->p2);
        break;
      case OP_Clear:
      case OP_Destroy:
        report_root(db, each->opcode == OP_Clear ? each->p2 : each->p3, each->p1);
        break;
      case OP_VOpen:
      case OP_VUpdate:
        report_virtual(db, each->p4.pVtab);
        break;
    }
  }
}

/* Reports every table that the statement, its triggers and its foreign keys open. */
__attribute__((export_name("opened"))) void opened(sqlite3_stmt *statement) {
  Vdbe *program = (Vdbe *)statement;
  SubProgram *each;
  report_operations(program->db, program->aOp, program->nOp);
  for (each = program->pProgram; each; each = each->pNext) {
    report_operations(program->db, each->aOp, each->nOp);
  }
}
