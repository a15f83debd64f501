PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_pets` (
	`id` integer PRIMARY KEY NOT NULL,
	`owner` integer,
	FOREIGN KEY (`owner`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `__new_pets`("id", "owner") SELECT "id", "owner" FROM `pets`;--> statement-breakpoint
DROP TABLE `pets`;--> statement-breakpoint
ALTER TABLE `__new_pets` RENAME TO `pets`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
ALTER TABLE `people` ADD `age` integer;