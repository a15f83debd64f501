PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_people` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`age` text
);
--> statement-breakpoint
INSERT INTO `__new_people`("id", "name", "age") SELECT "id", "name", "age" FROM `people`;--> statement-breakpoint
DROP TABLE `people`;--> statement-breakpoint
ALTER TABLE `__new_people` RENAME TO `people`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `people_name_unique` ON `people` (`name`);--> statement-breakpoint
CREATE TABLE `__new_pets` (
	`id` integer PRIMARY KEY NOT NULL,
	`owner` integer NOT NULL,
	FOREIGN KEY (`owner`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `__new_pets`("id", "owner") SELECT "id", "owner" FROM `pets`;--> statement-breakpoint
DROP TABLE `pets`;--> statement-breakpoint
ALTER TABLE `__new_pets` RENAME TO `pets`;